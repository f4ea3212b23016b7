"""Entry links (docs/adr/0014): create, find, close; and where participants go afterwards.

Keys are random, stored as a hash, and read leniently. A key has 140 bits. Guessing one is hopeless at any request rate,
so attempts are not counted; and since it is long and random, a plain SHA-256 is enough to store it. It is looked up by
that hash, so the time of the look-up reveals nothing about the key.

Recruitment platforms pass participant, study and session in the URL that they open (`read_visit`). Participants are
redirected at the end only to URLs that the owner of a link entered, never to one from a request (`check_address`).
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from .. import activities
from ..enums import EntryKind, Outcome
from ..participants.models import Consent, Participant
from ..study.models import Study, User
from .models import Arrival, EntryLink

# Crockford's base 32: no letter that looks like a digit, so that a key can be copied from paper.
KEY_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
KEY_LENGTH = 28
_KEY_READ_AS = str.maketrans({"o": "0", "i": "1", "l": "1", "-": None, " ": None})
_KEY_IN_LINK = re.compile(r"/join/([^/?#\s]+)")
_KEY = re.compile(f"[{KEY_ALPHABET}]{{{KEY_LENGTH}}}")


def make_key() -> str:
    """Generate a random key."""
    return "".join(secrets.choice(KEY_ALPHABET) for _ in range(KEY_LENGTH))


def group_key(key: str) -> str:
    """Format a key as people copy it: in groups of four."""
    return "-".join(key[start : start + 4] for start in range(0, len(key), 4))


def read_key(text: str) -> str | None:
    """Return the key in typed or pasted text, a whole link or the key alone; None if there is none."""
    match = _KEY_IN_LINK.search(text)
    key = (match[1] if match else text.strip()).lower().translate(_KEY_READ_AS)
    return key if _KEY.fullmatch(key) else None


def hash_key(key: str) -> bytes:
    """Return the hash under which a key is stored."""
    return hashlib.sha256(key.encode()).digest()


MAX_ADDRESS_LENGTH = 500
_HOST = re.compile(r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])")


class AddressError(ValueError):
    """A URL to which nobody may be redirected."""


def check_address(address: str) -> str:
    """Validate and return a URL for redirects: https, a named host, and nothing that browsers read differently."""
    address = address.strip()
    if len(address) > MAX_ADDRESS_LENGTH:
        raise AddressError(f"The address is longer than {MAX_ADDRESS_LENGTH} characters.")
    # A backslash or a control character is read differently by different browsers.
    if not re.fullmatch(r"[\x21-\x7e]+", address) or "\\" in address:
        raise AddressError("The address must not contain spaces or non-ASCII characters.")
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise AddressError("This is not a valid address.") from error
    if parts.scheme != "https":
        raise AddressError("The address must start with https://.")
    if parts.username is not None or parts.password is not None or port not in {None, 443}:
        raise AddressError("The address must not contain a user name or a port.")
    if not _HOST.fullmatch(host):
        raise AddressError("The address must name a host, such as app.prolific.com.")
    return address


MAX_ID_LENGTH = 200
# Platforms use letters, digits and a few marks. A placeholder that was not filled in has braces or per cent signs.
_PLATFORM_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~@:+=-]*")
# Valid names of a URL parameter.
PARAMETER_NAME = re.compile(r"[A-Za-z0-9_.-]{1,50}")
PARAMETER_ROLES = ("participant", "study", "session")
# Platforms whose parameter names are known.
PLATFORM_PRESETS = {
    "prolific": {"participant": "PROLIFIC_PID", "study": "STUDY_ID", "session": "SESSION_ID"},
}

# The parameter of a completion URL that holds the code, for participants who must type it.
COMPLETION_CODE = "cc"


class PlatformParametersError(ValueError):
    """The URL by which somebody entered does not identify them."""


@dataclass(frozen=True)
class PlatformVisit:
    """Participant, study and session as the platform names them."""

    participant: str
    study: str = ""
    session: str = ""


def read_visit(names: Mapping[str, str], query: Mapping[str, str]) -> PlatformVisit:
    """Read a platform's parameters by the names that a link defines; the participant's is required."""
    visit = {role: query.get(names[role], "") for role in PARAMETER_ROLES if names.get(role)}
    if not visit.get("participant"):
        raise PlatformParametersError(
            _("The link does not contain your platform ID: “%(name)s” is missing.")
            % {"name": names.get("participant", "")}
        )
    for role, value in visit.items():
        if value and (len(value) > MAX_ID_LENGTH or not _PLATFORM_ID.fullmatch(value)):
            raise PlatformParametersError(
                _("The link is damaged: “%(name)s” is not a valid platform ID.") % {"name": names[role]}
            )
    return PlatformVisit(**visit)


MAX_LABEL_LENGTH = 200
MAX_AT_ONCE = 500


class LinkError(ValueError):
    """A link that cannot be created."""


@dataclass(frozen=True)
class LinkWithKey:
    """A link with its key, which is shown once if it is personal."""

    link: EntryLink
    key: str


@transaction.atomic
def create_personal(
    *, study: Study, purpose: str, labels: list[str], by: User | None, now: datetime, expires_at: datetime | None = None
) -> list[LinkWithKey]:
    """Invite people: create a participant and a personal link for each label. Labels never leave the system."""
    registered = _activity_for(study, purpose)
    links = []
    for label in labels:
        person = Participant.objects.create(study=study, kind=registered.kind, external_id=uuid4().hex, created_at=now)
        links.append(_create_personal(person, purpose, label, by, now, expires_at))
    return links


def create_open(
    *, study: Study, purpose: str, label: str, by: User | None, now: datetime, expires_at: datetime | None = None
) -> EntryLink:
    """Create a link that anybody can use."""
    return _create_shared(study, purpose, EntryKind.OPEN, label, by, now, expires_at)


def create_platform(
    *,
    study: Study,
    purpose: str,
    label: str,
    platform: str,
    parameters: dict[str, str],
    by: User | None,
    now: datetime,
    completion: dict[str, str] | None = None,
    expires_at: datetime | None = None,
) -> EntryLink:
    """Create a link for a recruitment platform.

    `parameters` are the platform's names for participant, study and session; `completion` is the URL of each `Outcome`.
    Participants are redirected only to these URLs.
    """
    named = {role: name for role, name in parameters.items() if name}
    if not named.get("participant") or set(named) - set(PARAMETER_ROLES):
        raise LinkError("Enter the name of the URL parameter for the participant ID.")
    if any(not PARAMETER_NAME.fullmatch(name) for name in named.values()):
        raise LinkError("Parameter names can contain only letters, digits, dots, dashes and underscores.")
    if len(set(named.values())) < len(named):
        raise LinkError("Two parameters have the same name. Use different names.")
    ends = {outcome: check_address(address) for outcome, address in (completion or {}).items() if address}
    if set(ends) - set(Outcome.values):
        raise LinkError("One of the addresses is for an unknown outcome.")
    fields = {"platform": platform, "parameters": named, "completion": ends}
    return _create_shared(study, purpose, EntryKind.PLATFORM, label, by, now, expires_at, **fields)


@transaction.atomic
def renew(*, participant: Participant, purpose: str, now: datetime, by: User | None = None) -> LinkWithKey:
    """Create a new personal link for a participant; all their earlier ones stop working."""
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    earlier = EntryLink.objects.personal().filter(participant=held).order_by("pk")
    label, expires_at = earlier.values_list("label", "expires_at").first() or ("", None)
    # A key that nobody used and no researcher created belongs to no record.
    earlier.filter(created_by__isnull=True, label="", arrivals__isnull=True).delete()
    earlier.filter(closed_at__isnull=True).update(closed_at=now)
    return _create_personal(held, purpose, label if by else "", by, now, expires_at if by else None)


@transaction.atomic
def first_key(*, participant: Participant, purpose: str, now: datetime) -> LinkWithKey | None:
    """Create a personal link for a participant who entered by a shared link; None if they have one."""
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if EntryLink.objects.personal().filter(participant=held, closed_at__isnull=True).exists():
        return None
    return _create_personal(held, purpose, "", None, now, None)


def close(*, link: EntryLink, now: datetime) -> None:
    """Close a link to new participants: revoke a personal one, close a shared one."""
    EntryLink.objects.filter(pk=link.pk, closed_at__isnull=True).update(closed_at=now)


def find(key_or_address: str) -> EntryLink | None:
    """Return the link for a key in typed, opened or pasted text.

    Revoked personal links are not found: nobody can tell them from links that never existed.
    """
    key = read_key(key_or_address)
    if key is None:
        return None
    link = (
        EntryLink.objects.select_related("study", "participant")
        .filter(token_hash=hash_key(key), study__deletion_requested_at__isnull=True)
        .first()
    )
    if link and link.kind == EntryKind.PERSONAL and link.closed_at:
        return None
    return link


def find_personal(key_or_address: str) -> EntryLink | None:
    """Return the personal link for a typed or pasted key."""
    link = find(key_or_address)
    return link if link and link.kind == EntryKind.PERSONAL else None


@dataclass(frozen=True)
class CompletionTarget:
    """Where a visit ends on the recruitment platform: a URL, and the code in it if it has one."""

    platform: str
    address: str
    code: str
    is_completed: bool


def completion_target(link: EntryLink, outcome: Outcome) -> CompletionTarget | None:
    """Return where participants of this link go at the end of a visit; None if the link has no URL for the outcome."""
    target = str(link.completion.get(outcome, "")) if link.kind == EntryKind.PLATFORM else ""
    try:
        address = check_address(target)
    except AddressError:
        # A URL that got into the table by another way than `create_platform` is not used.
        return None
    code = parse_qs(urlsplit(address).query).get(COMPLETION_CODE, [""])[0]
    return CompletionTarget(_platform_name(link.platform), address, code, outcome == Outcome.COMPLETED)


def participant_completion_target(*, participant: Participant, outcome: Outcome) -> CompletionTarget | None:
    """Return where a participant goes at the end of a visit, by the link of their last entry; None if nowhere."""
    arrivals = Arrival.objects.filter(participant=participant, link__kind=EntryKind.PLATFORM)
    last = arrivals.select_related("link").order_by("-last_at", "-pk").first()
    return completion_target(last.link, outcome) if last else None


def paying_platform(participant: Participant) -> str:
    """Return the platform of the participant's last entry, which pays them; empty if the researchers pay."""
    arrivals = Arrival.objects.filter(participant=participant, link__kind=EntryKind.PLATFORM)
    return _platform_name(arrivals.order_by("-last_at", "-pk").values_list("link__platform", flat=True).first() or "")


@dataclass(frozen=True)
class Funnel:
    """How many participants entered by a link, and how many of them consented."""

    arrived: int
    consented: int


def funnels(study: Study) -> dict[int, Funnel]:
    """Return the funnel of each link of a study by the link's key."""
    agreed = set(Consent.objects.filter(participant__study=study).values_list("participant_id", flat=True))
    funnel_counts: dict[int, list[int]] = {}
    rows = Arrival.objects.filter(link__study=study).values_list("link_id", "participant_id")
    for link, person in rows.iterator():
        counts = funnel_counts.setdefault(link, [0, 0])
        counts[0] += 1
        counts[1] += person in agreed
    return {link: Funnel(*counts) for link, counts in funnel_counts.items()}


def _platform_name(platform: str) -> str:
    """Return a platform's display name."""
    return platform[:1].upper() + platform[1:]


def _create_personal(
    person: Participant, purpose: str, label: str, by: User | None, now: datetime, expires_at: datetime | None
) -> LinkWithKey:
    key = make_key()
    link = EntryLink.objects.create(
        study_id=person.study_id,
        purpose=purpose,
        kind=EntryKind.PERSONAL,
        label=label[:MAX_LABEL_LENGTH],
        participant=person,
        token_hash=hash_key(key),
        created_at=now,
        created_by=by,
        expires_at=expires_at,
    )
    return LinkWithKey(link, key)


def _create_shared(
    study: Study,
    purpose: str,
    kind: EntryKind,
    label: str,
    by: User | None,
    now: datetime,
    expires_at: datetime | None,
    **fields: object,
) -> EntryLink:
    _activity_for(study, purpose)
    key = make_key()
    return EntryLink.objects.create(
        study=study,
        purpose=purpose,
        kind=kind,
        label=label[:MAX_LABEL_LENGTH],
        token=key,
        token_hash=hash_key(key),
        created_at=now,
        created_by=by,
        expires_at=expires_at,
        **fields,
    )


def _activity_for(study: Study, purpose: str) -> activities.Activity:
    activity = activities.get(study, purpose)
    if activity is None:
        raise LinkError(f"There is no activity called {purpose}.")
    return activity

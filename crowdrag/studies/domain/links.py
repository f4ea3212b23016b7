"""Making, finding and closing the links by which people come in (docs/adr/0014)."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from .. import ways
from ..enums import EntryKind, Outcome
from ..models import Arrival, Consent, EntryLink, Participant, Study, User
from . import addresses, keys, platforms

LONGEST_LABEL = 200
MOST_AT_ONCE = 500


class LinkError(ValueError):
    """A link that cannot be made like this."""


@dataclass(frozen=True)
class Made:
    """A link with its key, which is shown once where it is a person's own."""

    link: EntryLink
    key: str


@transaction.atomic
def create_personal(
    *, study: Study, purpose: str, labels: list[str], by: User | None, now: datetime, expires_at: datetime | None = None
) -> list[Made]:
    """Invite people: a participant and a personal link for each label. Labels never leave the system."""
    way = _way(study, purpose)
    made = []
    for label in labels:
        person = Participant.objects.create(study=study, kind=way.kind, external_id=uuid4().hex, created_at=now)
        made.append(_personal(person, purpose, label, by, now, expires_at))
    return made


def create_open(
    *, study: Study, purpose: str, label: str, by: User | None, now: datetime, expires_at: datetime | None = None
) -> EntryLink:
    """Make a link that lets in whoever has it."""
    return _shared(study, purpose, EntryKind.OPEN, label, by, now, expires_at)


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
    """Make a link for a recruitment platform.

    `parameters` are the platform's names for participant, study and session; `completion` the address of each
    `Outcome`. Only these addresses are ever led to.
    """
    named = {role: name for role, name in parameters.items() if name}
    if not named.get("participant") or set(named) - set(platforms.ROLES):
        raise LinkError(_("Say how the platform calls the participant's id in the address."))
    if any(not platforms.PARAMETER.fullmatch(name) for name in named.values()):
        raise LinkError(_("A parameter's name has letters, digits, dots, dashes and underscores only."))
    if len(set(named.values())) < len(named):
        raise LinkError(_("Two parameters have the same name."))
    ends = {outcome: addresses.checked(address) for outcome, address in (completion or {}).items() if address}
    if set(ends) - set(Outcome.values):
        raise LinkError(_("An address is for an outcome that there is not."))
    fields = {"platform": platform, "parameters": named, "completion": ends}
    return _shared(study, purpose, EntryKind.PLATFORM, label, by, now, expires_at, **fields)


@transaction.atomic
def renew(*, participant: Participant, purpose: str, now: datetime, by: User | None = None) -> Made:
    """Give somebody a new personal link; every earlier one of theirs stops working."""
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    earlier = EntryLink.objects.personal().filter(participant=held).order_by("pk")
    label, expires_at = earlier.values_list("label", "expires_at").first() or ("", None)
    # A key that nobody ever came by, and that no researcher made, is no part of any record.
    earlier.filter(created_by__isnull=True, label="", arrivals__isnull=True).delete()
    earlier.filter(closed_at__isnull=True).update(closed_at=now)
    return _personal(held, purpose, label if by else "", by, now, expires_at if by else None)


@transaction.atomic
def first_key(*, participant: Participant, purpose: str, now: datetime) -> Made | None:
    """Give somebody who came by a shared link a key of their own; None where they have one."""
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if EntryLink.objects.personal().filter(participant=held, closed_at__isnull=True).exists():
        return None
    return _personal(held, purpose, "", None, now, None)


def close(*, link: EntryLink, now: datetime) -> None:
    """Let nobody in by this link any more: revoke a personal one, close a shared one."""
    EntryLink.objects.filter(pk=link.pk, closed_at__isnull=True).update(closed_at=now)


def find(given: str) -> EntryLink | None:
    """Return the link with the key in what somebody typed, opened or pasted.

    A personal link that was revoked is no link: nobody can tell it from one that never was.
    """
    key = keys.read(given)
    if key is None:
        return None
    found = EntryLink.objects.select_related("study", "participant").filter(token_hash=keys.digest(key)).first()
    if found and found.kind == EntryKind.PERSONAL and found.closed_at:
        return None
    return found


def find_personal(given: str) -> EntryLink | None:
    """Return the personal link whose key somebody typed or pasted."""
    link = find(given)
    return link if link and link.kind == EntryKind.PERSONAL else None


@dataclass(frozen=True)
class WayBack:
    """How somebody ends their visit on the platform that sent them: an address, and the code in it where it has one."""

    platform: str
    address: str
    code: str
    is_completed: bool


def ending(link: EntryLink, outcome: Outcome) -> WayBack | None:
    """Return where people go at the end of a visit by this link; None where it names no address for the outcome."""
    given = str(link.completion.get(outcome, "")) if link.kind == EntryKind.PLATFORM else ""
    try:
        address = addresses.checked(given)
    except addresses.AddressError:
        # Whatever got into the table by another way than `create_platform` is not led to.
        return None
    code = parse_qs(urlsplit(address).query).get(platforms.CODE, [""])[0]
    return WayBack(_name(link.platform), address, code, outcome == Outcome.COMPLETED)


def way_back(*, participant: Participant, outcome: Outcome) -> WayBack | None:
    """Return where somebody goes at the end of their visit: by the link by which they last came; None for none."""
    arrivals = Arrival.objects.filter(participant=participant, link__kind=EntryKind.PLATFORM)
    last = arrivals.select_related("link").order_by("-last_at", "-pk").first()
    return ending(last.link, outcome) if last else None


def payer(participant: Participant) -> str:
    """Return the name of the platform by which somebody came last, which pays them; empty where the researchers do."""
    arrivals = Arrival.objects.filter(participant=participant, link__kind=EntryKind.PLATFORM)
    return _name(arrivals.order_by("-last_at", "-pk").values_list("link__platform", flat=True).first() or "")


@dataclass(frozen=True)
class Funnel:
    """How many came by a link, and how many of them agreed."""

    arrived: int
    consented: int


def funnels(study: Study) -> dict[int, Funnel]:
    """Return the numbers of each link of a study by the link's key."""
    agreed = set(Consent.objects.filter(participant__study=study).values_list("participant_id", flat=True))
    found: dict[int, list[int]] = {}
    rows = Arrival.objects.filter(link__study=study).values_list("link_id", "participant_id")
    for link, person in rows.iterator():
        counts = found.setdefault(link, [0, 0])
        counts[0] += 1
        counts[1] += person in agreed
    return {link: Funnel(*counts) for link, counts in found.items()}


def _name(platform: str) -> str:
    """Return a platform's name as people read it."""
    return platform[:1].upper() + platform[1:]


def _personal(
    person: Participant, purpose: str, label: str, by: User | None, now: datetime, expires_at: datetime | None
) -> Made:
    key = keys.make()
    link = EntryLink.objects.create(
        study_id=person.study_id,
        purpose=purpose,
        kind=EntryKind.PERSONAL,
        label=label[:LONGEST_LABEL],
        participant=person,
        token_hash=keys.digest(key),
        created_at=now,
        created_by=by,
        expires_at=expires_at,
    )
    return Made(link, key)


def _shared(
    study: Study,
    purpose: str,
    kind: EntryKind,
    label: str,
    by: User | None,
    now: datetime,
    expires_at: datetime | None,
    **fields: object,
) -> EntryLink:
    _way(study, purpose)
    key = keys.make()
    return EntryLink.objects.create(
        study=study,
        purpose=purpose,
        kind=kind,
        label=label[:LONGEST_LABEL],
        token=key,
        token_hash=keys.digest(key),
        created_at=now,
        created_by=by,
        expires_at=expires_at,
        **fields,
    )


def _way(study: Study, purpose: str) -> ways.Way:
    found = ways.get(study, purpose)
    if found is None:
        raise LinkError(_("There is no way of taking part that is called %(name)s.") % {"name": purpose})
    return found

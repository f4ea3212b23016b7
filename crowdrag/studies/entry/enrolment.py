"""Enrolment by a link: find or create the participant, once.

The terms of a recruitment platform, under which a link is advertised, say which devices are allowed. They register here
(`register_device_source`).
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from django.core import signing
from django.db import transaction
from django.utils.translation import gettext as _

from ..enums import Device, EntryKind, ParticipantKind
from ..participants import identity
from ..participants.models import Participant
from .links import PlatformVisit
from .models import Arrival, EntryLink

DeviceSource = Callable[[EntryLink], Collection[str]]

# Substrings by which browsers name their device; the first match counts. Android tablets leave "Mobile" out. Apple
# tablets identify as desktops, so the page checks as well (device.js).
_DEVICE_SIGNS = (
    ("ipad", Device.TABLET),
    ("tablet", Device.TABLET),
    ("silk/", Device.TABLET),
    ("iphone", Device.MOBILE),
    ("ipod", Device.MOBILE),
    ("mobile", Device.MOBILE),
    ("android", Device.TABLET),
)
_device_sources: list[DeviceSource] = []


def register_device_source(source: DeviceSource) -> None:
    """Add a source of the devices that a link allows; called once from an app's `ready`."""
    _device_sources.append(source)


def allowed_devices(link: EntryLink) -> list[Device]:
    """Return the devices on which participants of a link may take part; all if no source restricts them."""
    devices = {device for source in _device_sources for device in source(link)}
    return [device for device in Device if device in devices] or list(Device)


def device_of(headers: Mapping[str, str]) -> Device:
    """Return the kind of device of a request: by its client hint, else by its user agent."""
    if headers.get("Sec-CH-UA-Mobile") == "?1":
        return Device.MOBILE
    agent = headers.get("User-Agent", "").lower()
    return next((device for sign, device in _DEVICE_SIGNS if sign in agent), Device.DESKTOP)


# The page of an open link contains a signed number, so that sending the page twice enrols once.
_VISIT_SIGNER = signing.TimestampSigner(salt="crowdrag.studies.visit")
VISIT_SECONDS = 24 * 3600


class EntryError(ValueError):
    """Entry by this link or page is not possible."""


class ClosedError(EntryError):
    """The link was closed or has expired."""


class ErasedError(EntryError):
    """This person had their data erased."""


class VisitError(EntryError):
    """The page was open for too long, or was tampered with."""


def sign_visit(number: str) -> str:
    """Sign the number of a visit, for the page of an open link."""
    return _VISIT_SIGNER.sign(number)


def is_open(link: EntryLink, now: datetime) -> bool:
    """Return whether a link accepts new participants."""
    return link.closed_at is None and (link.expires_at is None or link.expires_at > now)


def find_known(*, link: EntryLink, named: PlatformVisit | None = None) -> Participant | None:
    """Return the participant of a link and a platform's parameters, if they entered before. Writes nothing."""
    if link.kind == EntryKind.PERSONAL:
        return link.participant
    if link.kind == EntryKind.PLATFORM and named:
        return _find_by_identity(link, _platform_identity(link, named))
    return None


@transaction.atomic
def enrol(
    *,
    link: EntryLink,
    now: datetime,
    named: PlatformVisit | None = None,
    signed_visit: str = "",
    resumed: Participant | None = None,
) -> Participant:
    """Enrol a participant and record their arrival; entering again is the same participant and the same arrival.

    Parameters
    ----------
    link
        the entry link.
    now
        the time of entry.
    named
        the platform's parameters; required for links of platforms.
    signed_visit
        the `visit` of the page of an open link.
    resumed
        the participant of this browser in this study, for open links.

    Raises
    ------
    ClosedError
        if the link accepts nobody new, and this is a new person.
    ErasedError
        if they had their data erased, so that there is nothing to continue.
    VisitError
        if an open link's page is too old.
    """
    participant = _find_or_create(link, named, signed_visit, resumed, now)
    if participant.erased_at:
        raise ErasedError(_("You withdrew from this study, and all your data was erased."))
    came_before = Arrival.objects.filter(link=link, participant=participant).exists()
    if not came_before and not is_open(link, now):
        raise ClosedError(_("This link is closed to new participants."))
    facts: dict[str, Any] = {"last_at": now}
    if named:
        facts |= {"platform_study": named.study, "session": named.session}
    Arrival.objects.update_or_create(
        link=link, participant=participant, defaults=facts, create_defaults={**facts, "arrived_at": now}
    )
    return participant


def _find_or_create(
    link: EntryLink, named: PlatformVisit | None, signed_visit: str, resumed: Participant | None, now: datetime
) -> Participant:
    if link.kind == EntryKind.PERSONAL:
        assert link.participant is not None, "a check of the table"
        return link.participant
    if link.kind == EntryKind.PLATFORM:
        if named is None:
            raise EntryError(_("The platform did not send your ID."))
        who = _platform_identity(link, named)
        return _find_by_identity(link, who) or _create_participant(link, who, now, keeps_identity=True)
    if resumed and resumed.study_id == link.study_id and not resumed.erased_at:
        return resumed
    try:
        number = _VISIT_SIGNER.unsign(signed_visit, max_age=VISIT_SECONDS)
    except signing.BadSignature as error:
        raise VisitError(_("This page was open for a long time. Open the link again.")) from error
    who = f"open:{number}"
    return _find_by_identity(link, who) or _create_participant(link, who, now, keeps_identity=False)


def _platform_identity(link: EntryLink, named: PlatformVisit) -> str:
    """Return the identity, which includes the platform because two platforms may use the same IDs."""
    return f"{link.platform}:{named.participant}"


def _find_by_identity(link: EntryLink, who: str) -> Participant | None:
    people = Participant.objects.filter(study_id=link.study_id, kind=ParticipantKind.CROWD)
    by_identity = people.filter(identity_hash=identity.identity_hash(who)).first()
    # An erased participant has no identity, but the tombstone keeps the pseudonym, by which they are recognised.
    return by_identity or people.filter(external_id=identity.pseudonym(link.study, who)).first()


def _create_participant(link: EntryLink, who: str, now: datetime, *, keeps_identity: bool) -> Participant:
    """Create the participant, or get the one created at the same moment: the constraint decides."""
    if not is_open(link, now):
        raise ClosedError(_("This link is closed to new participants."))
    kept = {"identity": identity.encrypt(who), "identity_hash": identity.identity_hash(who)} if keeps_identity else {}
    person, _new = Participant.objects.get_or_create(
        study_id=link.study_id,
        kind=ParticipantKind.CROWD,
        external_id=identity.pseudonym(link.study, who),
        defaults={"created_at": now, **kept},
    )
    return person

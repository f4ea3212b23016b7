"""Enrolment by a link: find or create the participant, once.

On which devices people may take part is known to whoever advertises a link: a recruitment platform's terms. They
register here (`register_device_source`).
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

# A browser that says which device it runs on does so with these; the first that is found counts. A tablet's Android
# leaves "Mobile" out. Tablets of Apple say that they are desktops, so the page looks for itself, too (device.js).
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
    """Add what knows the devices that a link allows; called once from an app's `ready`."""
    _device_sources.append(source)


def allowed_devices(link: EntryLink) -> list[Device]:
    """Return the devices on which people may take part who come by a link; all of them where nobody says otherwise."""
    devices = {device for source in _device_sources for device in source(link)}
    return [device for device in Device if device in devices] or list(Device)


def device_of(headers: Mapping[str, str]) -> Device:
    """Return the kind of device that a request comes from: by its client hint, and else by its user agent."""
    if headers.get("Sec-CH-UA-Mobile") == "?1":
        return Device.MOBILE
    agent = headers.get("User-Agent", "").lower()
    return next((device for sign, device in _DEVICE_SIGNS if sign in agent), Device.DESKTOP)


# A page of an open link carries a signed number: whoever sends the page twice comes in once.
_VISIT_SIGNER = signing.TimestampSigner(salt="crowdrag.studies.visit")
VISIT_SECONDS = 24 * 3600


class EntryError(ValueError):
    """Nobody comes in like this."""


class ClosedError(EntryError):
    """The link was closed, or its time is over."""


class ErasedError(EntryError):
    """This person had all that they gave erased."""


class VisitError(EntryError):
    """The page was open for too long, or was tampered with."""


def sign_visit(number: str) -> str:
    """Sign the number of a visit, for the page of an open link."""
    return _VISIT_SIGNER.sign(number)


def is_open(link: EntryLink, now: datetime) -> bool:
    """Say whether new people may come in by a link."""
    return link.closed_at is None and (link.expires_at is None or link.expires_at > now)


def find_known(*, link: EntryLink, named: PlatformVisit | None = None) -> Participant | None:
    """Return who a link and a platform's parameters mean, if they came before. Writes nothing."""
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
    """Let somebody in and note that they came; coming again is the same participant and the same arrival.

    Parameters
    ----------
    link
        by which they come.
    now
        when.
    named
        what the platform says of them; links of platforms need it.
    signed_visit
        the `visit` of the page of an open link.
    resumed
        who this browser already is in this study, for open links.

    Raises
    ------
    ClosedError
        if the link lets nobody new in, and this is somebody new.
    GoneError
        if they had everything erased: what is gone cannot be gone on with.
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
    """Two platforms may use the same ids for different people, so the platform's name is part of who somebody is."""
    return f"{link.platform}:{named.participant}"


def _find_by_identity(link: EntryLink, who: str) -> Participant | None:
    people = Participant.objects.filter(study_id=link.study_id, kind=ParticipantKind.CROWD)
    by_identity = people.filter(identity_hash=identity.identity_hash(who)).first()
    # Whoever was erased has no identity left; the tombstone keeps the pseudonym, by which they are known again.
    return by_identity or people.filter(external_id=identity.pseudonym(link.study, who)).first()


def _create_participant(link: EntryLink, who: str, now: datetime, *, keeps_identity: bool) -> Participant:
    """Make the participant, or get the one that somebody else made at this moment: the constraint decides."""
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

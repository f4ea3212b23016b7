"""Record the state of a submission, from any source, and call listeners when it changed.

Of two updates, the same one prevails whatever their order, and however often they arrive. A decision is final
(docs.prolific.com: "once the status is changed, it can not be restored"), so an update from before it never overrides
it, whatever its time says: clocks differ. Of all others the later one prevails, and of two in the same second the more
advanced status. These three rules form one order of all possible updates, and the greatest prevails: a repeated or late
update changes nothing. When a participant has their data erased, the platform's references to them are removed once
they have been paid.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils.dateparse import parse_datetime

from crowdrag.studies.models import Arrival, Participant
from crowdrag.studies.participants import identity

from . import listeners
from .enums import ActionState, SubmissionStatus
from .models import PlatformAction, PlatformEvent, PlatformStudy, Submission

FINAL: Final = (
    SubmissionStatus.SCREENED_OUT,
    SubmissionStatus.REJECTED,
    SubmissionStatus.PARTIALLY_APPROVED,
    SubmissionStatus.APPROVED,
)
# Nobody works on it any more, and nothing was decided: the place is free.
RELEASED: Final = (SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT)
# The participant has not submitted on the platform; a decision must wait.
UNDER_WAY: Final = (SubmissionStatus.RESERVED, SubmissionStatus.ACTIVE)
PAID: Final = (SubmissionStatus.APPROVED, SubmissionStatus.PARTIALLY_APPROVED, SubmissionStatus.SCREENED_OUT)
_RANK: Final = {status: rank for rank, status in enumerate(SubmissionStatus.values)}


@dataclass(frozen=True)
class TimedStatus:
    """A status, and its time."""

    status: str
    at: datetime


def parse_status(text: object) -> SubmissionStatus | None:
    """Read a status as the platform writes it, with spaces, hyphens or underscores; None if unknown.

    The undocumented PROCESSING, which a status passes through for a moment (Mephisto's list of oddities), is ignored.
    """
    plain = str(text or "").strip().upper().replace("-", " ").replace("_", " ")
    return next((status for status in SubmissionStatus if status.value.replace("-", " ") == plain), None)


def prevailing(before: TimedStatus | None, update: TimedStatus) -> TimedStatus:
    """Return which of two updates prevails."""
    return update if before is None or _rank(update) > _rank(before) else before


def _rank(update: TimedStatus) -> tuple[bool, datetime, int]:
    return update.status in FINAL, update.at, _RANK[update.status]


OPEN_ACTIONS = (ActionState.WAITING, ActionState.SENDING, ActionState.UNKNOWN, ActionState.FAILED)


def on_erase(participant: Participant, now: datetime) -> None:
    """Delete a participant's visits except those still to be paid, and of these all that payment does not need."""
    came = Arrival.objects.filter(participant=participant, link__platform_study__isnull=False).exclude(session="")
    for study, session in came.values_list("link__platform_study", "session"):
        # The arrivals are deleted; payments for the visit need only its id.
        row, _new = Submission.objects.get_or_create(
            platform_study_id=study, external_id=session, defaults={"first_heard_at": now, "participant": participant}
        )
        if row.participant_id is None and row.identity_hash is None:
            Submission.objects.filter(pk=row.pk).update(participant=participant)
    submissions = Submission.objects.filter(participant=participant)
    PlatformEvent.objects.filter(resource_id__in=submissions.values("external_id")).delete()
    submissions.update(identity_hash=None, code="")
    forget_settled(participant)


def forget_settled(participant: Participant) -> None:
    """Delete visits of an erased participant that the platform has settled."""
    owed = PlatformAction.objects.filter(state__in=OPEN_ACTIONS, submission__participant=participant)
    settled = Submission.objects.filter(participant=participant, status__in=FINAL)
    gone = settled.exclude(pk__in=owed.values("submission_id"))
    # The platform's later events identify them too.
    PlatformEvent.objects.filter(resource_id__in=gone.values("external_id")).delete()
    gone.delete()


NO_CODE = "NOCODE"
LONGEST_ID = 200
LONGEST_CODE = 50


@dataclass(frozen=True)
class SubmissionUpdate:
    """An update of one visit. Fields that were not reported are None."""

    external_id: str
    status: str
    at: datetime
    identity_hash: bytes | None = None
    person: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def local_external_id(platform_study: PlatformStudy, person: str) -> str:
    """Return the name of a platform's person in this system, as when they entered by its link."""
    return f"{platform_study.link.platform}:{person}"


def parse_submission(platform_study: PlatformStudy, row: dict[str, Any], at: datetime) -> SubmissionUpdate | None:
    """Read a submission in the API's format; None if it is not one."""
    key, status = str(row.get("id") or "")[:LONGEST_ID], parse_status(row.get("status"))
    if not key or status is None:
        return None
    person = str(row.get("participant_id") or row.get("participant") or "")
    facts: dict[str, Any] = {}
    for name in ("started_at", "completed_at"):
        if (moment := _parse_time(row.get(name))) is not None:
            facts[name] = moment
    if "study_code" in row or "entered_code" in row:
        code = str(row.get("study_code") or row.get("entered_code") or "").replace("\x00", "")[:LONGEST_CODE]
        finished = status not in UNDER_WAY and status not in RELEASED
        facts["code"] = code or (NO_CODE if finished and facts.get("completed_at") else "")
    if isinstance(row.get("bonus_payments"), list):
        facts["bonuses"] = listed_bonuses(row)
    hashed = identity.identity_hash(local_external_id(platform_study, person)) if person else None
    return SubmissionUpdate(key, status, at, hashed, person, facts)


def listed_bonuses(row: dict[str, Any]) -> list[int]:
    """Return the bonuses that the platform lists for a submission, in minor units."""
    listed = row.get("bonus_payments")
    return [round(amount) for amount in listed if isinstance(amount, int | float)] if isinstance(listed, list) else []


@transaction.atomic
def record(platform_study: PlatformStudy, news: SubmissionUpdate, *, now: datetime) -> Submission:
    """Record an update of a visit; call the activity's listener if the status changed. Idempotent in any order.

    Lock order: participant, submission, then the listener's own rows. A caller that has locked the latter must not lock
    the former two.
    """
    person = _find_participant(platform_study, news)
    if person is not None:
        person = Participant.objects.select_for_update(no_key=True).get(pk=person.pk)
    submission = _locked_submission(platform_study, news, person, now)
    before = TimedStatus(submission.status, submission.status_at) if submission.status_at else None
    held = prevailing(before, TimedStatus(news.status, news.at))
    same_status = submission.status == held.status
    submission.status, submission.status_at = held.status, held.at
    if before is None or news.at >= before.at:
        for name, value in news.facts.items():
            setattr(submission, name, value)
    if person is not None or news.identity_hash is not None:
        submission.participant = person
    if person is not None and person.erased_at:
        submission.identity_hash, submission.code = None, ""
    elif news.identity_hash is not None:
        submission.identity_hash = news.identity_hash
    submission.save()
    if not same_status:
        _notify(platform_study, submission, now)
    if person is not None and person.erased_at:
        forget_settled(person)
    return submission


def _locked_submission(
    platform_study: PlatformStudy, news: SubmissionUpdate, person: Participant | None, now: datetime
) -> Submission:
    Submission.objects.get_or_create(
        platform_study=platform_study,
        external_id=news.external_id,
        defaults={"first_heard_at": now, "participant": person},
    )
    rows = Submission.objects.select_for_update(no_key=True)
    return rows.get(platform_study=platform_study, external_id=news.external_id)


def _find_participant(platform_study: PlatformStudy, news: SubmissionUpdate) -> Participant | None:
    """Find the participant: by the platform's id of the person, else by the session with which they came.

    The session came in a URL that a participant can change. So if the platform reports the person, that prevails.
    """
    people = Participant.objects.filter(study=platform_study.study_id)
    if news.identity_hash is not None:
        participant = people.filter(identity_hash=news.identity_hash).first()
        if participant is None and news.person:
            # An erased participant is recognised only by the pseudonym.
            pseudonym = identity.pseudonym(platform_study.study, local_external_id(platform_study, news.person))
            participant = people.filter(external_id=pseudonym).first()
        if participant is None:
            # An event identifies people only by the hash, which an erased participant no longer has: the visit
            # identifies them.
            erased = people.filter(erased_at__isnull=False, visits__platform_study=platform_study)
            participant = erased.filter(visits__external_id=news.external_id).first()
        return participant
    submission = Submission.objects.filter(platform_study=platform_study, external_id=news.external_id).first()
    if submission is not None and submission.identity_hash is not None:
        return submission.participant
    arrivals = Arrival.objects.select_related("participant").filter(link=platform_study.link_id)
    came = arrivals.filter(session=news.external_id).order_by("pk").first()
    return came.participant if came else None


def _notify(platform_study: PlatformStudy, submission: Submission, now: datetime) -> None:
    listener = listeners.listener_for(platform_study.purpose)
    if listener is None or submission.status_at is None:
        return
    listener.on_change(
        listeners.StatusChanged(
            study=platform_study.study,
            purpose=platform_study.purpose,
            participant=submission.participant,
            session=submission.external_id,
            status=submission.status,
            at=submission.status_at,
            now=now,
        )
    )


def _parse_time(text: object) -> datetime | None:
    try:
        moment = parse_datetime(str(text)) if text else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None

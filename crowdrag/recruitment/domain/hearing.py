"""Writing down what the platform says of a visit, and telling who wants to know, whatever way it was heard."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime

from crowdrag.studies.models import Arrival, Participant
from crowdrag.studies.participants import identity

from .. import listening
from ..models import PlatformStudy, Submission
from . import erasing, statuses

NOCODE = "NOCODE"
LONGEST_ID = 200
LONGEST_CODE = 50


@dataclass(frozen=True)
class News:
    """What is said of one visit. Fields that were not said are None."""

    external_id: str
    status: str
    at: datetime
    identity_hash: bytes | None = None
    person: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def who(platform_study: PlatformStudy, person: str) -> str:
    """Return under which name somebody of the platform is known here, as when they came in by its link."""
    return f"{platform_study.link.platform}:{person}"


def read(platform_study: PlatformStudy, row: dict[str, Any], at: datetime) -> News | None:
    """Read a submission as the API writes it; None where it is none."""
    key, status = str(row.get("id") or "")[:LONGEST_ID], statuses.known(row.get("status"))
    if not key or status is None:
        return None
    person = str(row.get("participant_id") or row.get("participant") or "")
    facts: dict[str, Any] = {}
    for name in ("started_at", "completed_at"):
        if (moment := _moment(row.get(name))) is not None:
            facts[name] = moment
    if "study_code" in row or "entered_code" in row:
        code = str(row.get("study_code") or row.get("entered_code") or "").replace("\x00", "")[:LONGEST_CODE]
        finished = status not in statuses.UNDER_WAY and status not in statuses.LET_GO
        facts["code"] = code or (NOCODE if finished and facts.get("completed_at") else "")
    if isinstance(row.get("bonus_payments"), list):
        facts["bonuses"] = bonuses(row)
    hashed = identity.identity_hash(who(platform_study, person)) if person else None
    return News(key, status, at, hashed, person, facts)


def bonuses(row: dict[str, Any]) -> list[int]:
    """Return the bonuses that the platform lists for a submission, in minor units."""
    listed = row.get("bonus_payments")
    return [round(amount) for amount in listed if isinstance(amount, int | float)] if isinstance(listed, list) else []


@transaction.atomic
def hear(platform_study: PlatformStudy, news: News, *, now: datetime) -> Submission:
    """Write down what is said of a visit; tell the way's app where the status changed. Again, late or early: the same.

    Lock order: participant, submission, then the listener's own rows. Whoever holds these must not ask for the two.
    """
    person = _person(platform_study, news)
    if person is not None:
        person = Participant.objects.select_for_update(no_key=True).get(pk=person.pk)
    submission = _locked(platform_study, news, person, now)
    before = statuses.Said(submission.status, submission.status_at) if submission.status_at else None
    held = statuses.holds(before, statuses.Said(news.status, news.at))
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
        _tell(platform_study, submission, now)
    if person is not None and person.erased_at:
        erasing.forget_settled(person)
    return submission


def _locked(platform_study: PlatformStudy, news: News, person: Participant | None, now: datetime) -> Submission:
    Submission.objects.get_or_create(
        platform_study=platform_study,
        external_id=news.external_id,
        defaults={"first_heard_at": now, "participant": person},
    )
    rows = Submission.objects.select_for_update(no_key=True)
    return rows.get(platform_study=platform_study, external_id=news.external_id)


def _person(platform_study: PlatformStudy, news: News) -> Participant | None:
    """Find who it is: by the platform's id of the person, else by the session with which they came.

    The session stands in an address that a person can change. So where the platform says who somebody is, that holds.
    """
    people = Participant.objects.filter(study=platform_study.study_id)
    if news.identity_hash is not None:
        found = people.filter(identity_hash=news.identity_hash).first()
        if found is None and news.person:
            # Whoever had everything erased is known by the pseudonym alone.
            pseudonym = identity.pseudonym(platform_study.study, who(platform_study, news.person))
            found = people.filter(external_id=pseudonym).first()
        if found is None:
            # A notice names nobody but by the hash, and of who was erased there is none any more: the visit knows.
            erased = people.filter(erased_at__isnull=False, visits__platform_study=platform_study)
            found = erased.filter(visits__external_id=news.external_id).first()
        return found
    submission = Submission.objects.filter(platform_study=platform_study, external_id=news.external_id).first()
    if submission is not None and submission.identity_hash is not None:
        return submission.participant
    arrivals = Arrival.objects.select_related("participant").filter(link=platform_study.link_id)
    came = arrivals.filter(session=news.external_id).order_by("pk").first()
    return came.participant if came else None


def _tell(platform_study: PlatformStudy, submission: Submission, now: datetime) -> None:
    listener = listening.of(platform_study.purpose)
    if listener is None or submission.status_at is None:
        return
    listener.heard(
        listening.Heard(
            study=platform_study.study,
            purpose=platform_study.purpose,
            participant=submission.participant,
            session=submission.external_id,
            status=submission.status,
            at=submission.status_at,
            now=now,
        )
    )


def _moment(text: object) -> datetime | None:
    try:
        found = parse_datetime(str(text)) if text else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None

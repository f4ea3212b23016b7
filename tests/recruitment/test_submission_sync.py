"""What the platform says of visits: in any order, often or late, it comes to the same."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdrag.recruitment import listeners, overview, platform_studies, polling, submission_sync, webhooks
from crowdrag.recruitment.enums import LocalStatus, SubmissionStatus
from crowdrag.recruitment.models import PlatformEvent, PlatformStudy, Submission
from crowdrag.recruitment.prolific import endpoints
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.submission_sync import SubmissionUpdate
from crowdrag.studies.entry import enrolment
from crowdrag.studies.entry.links import PlatformVisit
from crowdrag.studies.models import Participant
from crowdrag.studies.participants import identity, withdrawal
from tests.examples import examples
from tests.factories import NOW
from tests.recruitment.conftest import TERMS, WAY, advertised, listening_with
from tests.recruitment.prolific_server import Prolific

pytestmark = pytest.mark.django_db
PERSON = "5f00000000000000000000aa"
SAID = st.builds(
    submission_sync.TimedStatus,
    st.sampled_from(SubmissionStatus.values),
    st.integers(0, 20).map(lambda seconds: NOW + timedelta(seconds=seconds)),
)


def came(made: PlatformStudy, person: str, session: str) -> Participant:
    """Somebody comes in by the study's link, as the platform opens it."""
    return enrolment.enrol(link=made.link, named=PlatformVisit(person, made.external_id, session), now=NOW)


def merged(said: list[submission_sync.TimedStatus]) -> submission_sync.TimedStatus | None:
    """What holds when all this is heard one after the other."""
    held: submission_sync.TimedStatus | None = None
    for one in said:
        held = submission_sync.prevailing(held, one)
    return held


@given(st.lists(SAID, min_size=1, max_size=8), st.randoms())
def test_any_order_and_any_repetition_come_to_the_same(said: list[submission_sync.TimedStatus], random: object) -> None:
    shuffled = said + said[: len(said) // 2]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    held = merged(said)
    assert merged(shuffled) == held
    decided = [one for one in said if one.status in submission_sync.FINAL]
    assert not decided or held.status in submission_sync.FINAL  # type: ignore[union-attr]


def test_what_is_older_never_undoes_what_is_newer(there: Prolific, heard: list[listeners.StatusChanged]) -> None:
    made = advertised()
    person = came(made, PERSON, "s1")
    later = NOW + timedelta(minutes=1)
    for status, at in [("AWAITING REVIEW", later), ("ACTIVE", NOW), ("RETURNED", NOW), ("AWAITING REVIEW", later)]:
        submission_sync.record(made, SubmissionUpdate("s1", status, at), now=later)
    row = Submission.objects.get()
    assert (row.status, row.status_at, row.participant) == ("AWAITING REVIEW", later, person)
    assert [(one.status, one.session, one.purpose) for one in heard] == [("AWAITING REVIEW", "s1", WAY)]


@settings(max_examples=examples(20), deadline=None)
@given(st.permutations(["RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED"]), st.integers(0, 4))
def test_a_life_told_in_any_order_ends_the_same(action: list[str], again: int) -> None:
    life = ["RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED"]
    held = merged(
        [submission_sync.TimedStatus(one, NOW + timedelta(minutes=life.index(one))) for one in [*action, action[again]]]
    )
    assert held is not None
    assert held.status == "APPROVED"


@pytest.mark.extended
def test_the_listing_finds_everybody_page_by_page(there: Prolific, client_there: Client) -> None:
    made = advertised(terms=replace(TERMS, places=230))
    for number in range(230):
        there.take_place(made.external_id, f"5f{number:022x}")
    assert polling.poll(client_there, made, now=NOW) == 230
    assert Submission.objects.count() == 230
    assert made.places_taken == 230


def test_nothing_is_listed_where_the_counts_say_that_nothing_moved(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    assert polling.poll(client_there, made, now=NOW) == 1
    assert polling.poll(client_there, made, now=NOW + timedelta(minutes=3)) == 0
    there.move(session, "ACTIVE")
    assert polling.poll(client_there, made, now=NOW + timedelta(minutes=6)) == 1
    assert Submission.objects.get().status == "ACTIVE"
    assert polling.poll(client_there, made, now=NOW + timedelta(hours=1)) == 1  # from time to time all the same


def test_a_forged_session_is_not_its_owners(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    forger = came(made, "5f00000000000000000000bb", session)
    submission_sync.record(made, SubmissionUpdate(session, "ACTIVE", NOW), now=NOW)
    assert Submission.objects.get().participant == forger  # all that is known yet
    polling.poll(client_there, made, now=NOW, everything=True)
    assert Submission.objects.get().participant is None
    owner = came(made, PERSON, session)
    polling.poll(client_there, made, now=NOW, everything=True)
    assert Submission.objects.get().participant == owner
    assert overview.rows(made)[0].disagrees


def test_what_does_not_agree_is_said(there: Prolific, client_there: Client) -> None:
    made = advertised(terms=replace(TERMS, places=9))
    here: dict[str, LocalStatus] = {}
    done = made.codes["COMPLETED"]
    # Each but the last disagrees, and each in its own way.
    cases: list[tuple[str, str | None, LocalStatus | None]] = [
        ("AWAITING REVIEW", "", LocalStatus.HANDED_IN), ("AWAITING REVIEW", "", LocalStatus.WORKING),
        ("AWAITING REVIEW", done, LocalStatus.NOTHING), ("RETURNED", None, LocalStatus.HANDED_IN),
        ("AWAITING REVIEW", done, LocalStatus.ACCEPTED), ("AWAITING REVIEW", done, None),
        ("AWAITING REVIEW", done, LocalStatus.HANDED_IN),
    ]  # fmt: skip
    sessions = []
    for number, (status, code, stands) in enumerate(cases):
        person = f"5f{number:022x}"
        sessions.append(session := there.take_place(made.external_id, person))
        if stands is not None:
            came(made, person, session)
            here[session] = stands
        there.move(session, status, code)
    with listening_with(lambda _heard: None, local_status=lambda _study, _purpose, _visits: here):
        polling.poll(client_there, made, now=NOW)
        found = {row.submission.external_id: row.disagrees for row in overview.rows(made)}
    *disagreeing, agreeing = (found[session] for session in sessions)
    assert not agreeing
    assert all(disagreeing)
    assert len(set(disagreeing)) == len(disagreeing)


def test_places_wanted_counts_what_is_used_up_and_never_less_than_there_is(there: Prolific) -> None:
    made = advertised()
    said = {"a": "APPROVED", "b": "APPROVED", "c": "REJECTED", "d": "RETURNED", "e": "ACTIVE"}
    for session, status in said.items():
        submission_sync.record(made, SubmissionUpdate(session, status, NOW), now=NOW)
    assert platform_studies.places_needed(made, still=0) == 3
    assert platform_studies.places_needed(made, still=1) == 3  # the one at work may be the one
    assert platform_studies.places_needed(made, still=4) == 6  # two are used up, by approvals


def test_whoever_had_everything_erased_is_forgotten_once_paid(there: Prolific, client_there: Client) -> None:
    made, session = paid_and_forgotten(there, client_there)
    row = Submission.objects.get()
    assert (row.identity_hash, row.code) == (None, "")  # still to be paid
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    there._decide(there.submissions[session], {"action": "APPROVE"})
    polling.poll(client_there, made, now=NOW, everything=True)
    assert not Submission.objects.exists()


def paid_and_forgotten(there: Prolific, client_there: Client) -> tuple[PlatformStudy, str]:
    """Somebody who came, had all erased, and was paid after that."""
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    person = came(made, PERSON, session)
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    polling.poll(client_there, made, now=NOW)
    withdrawal.erase(participant=person, now=NOW)
    return made, session


def notice(session: str, status: str, event_id: str = "late") -> PlatformEvent:
    """What the platform tells of a visit by itself: it names the person; a worker has it."""
    PlatformEvent.objects.create(
        event_id=event_id, kind=endpoints.SUBMISSION_CHANGED, resource_id=session, status=status,
        identity_hash=identity.identity_hash(f"prolific:{PERSON}"), sent_at=NOW, received_at=NOW, due_at=NOW,
    )  # fmt: skip
    event = webhooks.QUEUE.claim(NOW)
    assert event is not None
    return event


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_late_notice_of_whoever_had_everything_erased_leads_back_to_nobody(
    there: Prolific, client_there: Client, is_forgotten: bool
) -> None:
    made, session = paid_and_forgotten(there, client_there)
    if is_forgotten:
        there._decide(there.submissions[session], {"action": "APPROVE"})
        polling.poll(client_there, made, now=NOW, everything=True)
        assert not Submission.objects.exists()
    else:
        assert webhooks.handle(client_there, notice(session, "AWAITING REVIEW"), now=NOW)
        row = Submission.objects.get()
        assert (row.identity_hash, row.participant.erased_at) == (None, NOW)
    assert webhooks.handle(client_there, notice(session, "APPROVED", "later"), now=NOW)
    assert not Submission.objects.exists()
    assert not PlatformEvent.objects.exists()

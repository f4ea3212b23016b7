"""What the platform is told: once in effect, whatever is lost on the way."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdrag.recruitment import platform_actions, platform_outbox, platform_sync, polling
from crowdrag.recruitment.enums import ActionKind, ActionState
from crowdrag.recruitment.models import PlatformAction, PlatformStudy, Submission
from crowdrag.recruitment.prolific.client import Client
from tests.examples import examples
from tests.factories import NOW
from tests.recruitment.conftest import TERMS, WAY, advertised
from tests.recruitment.prolific_server import Problem, Prolific
from tests.recruitment.test_submission_sync import PERSON, came

pytestmark = pytest.mark.django_db
MESSAGE = "The answers do not follow the questions: in eleven of fifteen cases the longer text was chosen, unread."
LONG = timedelta(days=1)


def finished(there: Prolific, made: PlatformStudy, person: str = PERSON) -> str:
    """Somebody came, worked, and handed in on the platform."""
    session = there.take_place(made.external_id, person)
    came(made, person, session)
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    return session


@pytest.fixture
def made(there: Prolific) -> PlatformStudy:
    return advertised()


@pytest.fixture
def session(there: Prolific, made: PlatformStudy) -> str:
    return finished(there, made)


def state_of(action: PlatformAction) -> str:
    return PlatformAction.objects.get(pk=action.pk).state


def about(made: PlatformStudy, session: str, key: str = "k", **more: Any) -> dict[str, Any]:
    return {"study": made.study, "purpose": WAY, "session": session, "key": key, "now": NOW, **more}


def test_an_approval_is_sent_once(there: Prolific, client_there: Client, made: PlatformStudy, session: str) -> None:
    action = platform_actions.approve(**about(made, session))
    assert platform_actions.approve(**about(made, session)) == action
    assert platform_outbox.send_due(client_there, now=NOW) == 1
    assert platform_outbox.send_due(client_there, now=NOW + LONG) == 0
    assert state_of(action) == ActionState.DONE
    assert there.submissions[session]["status"] == Submission.objects.get().status == "APPROVED"


def test_the_talk_does_it_all(there: Prolific, made: PlatformStudy, session: str) -> None:
    platform_actions.approve(**about(made, session))
    PlatformAction.objects.update(due_at=NOW)
    assert platform_sync.is_due(NOW + LONG)
    assert platform_sync.synchronise(now=NOW + LONG)
    assert there.submissions[session]["status"] == "APPROVED"
    made.refresh_from_db()
    assert made.seen_at == NOW + LONG
    assert not platform_sync.is_due(NOW + LONG)
    assert polling.due_studies(NOW + LONG + timedelta(hours=2))


def test_a_rejection_is_checked_before_it_is_ordered(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    for error, category, message in (
        (platform_actions.ShortMessageError, "LOW_EFFORT", "x" * 99),
        (platform_actions.ActionError, "DISLIKED", MESSAGE),
    ):
        with pytest.raises(error):
            platform_actions.reject(**about(made, session), category=category, message=message)
    assert not PlatformAction.objects.exists()
    platform_actions.reject(**about(made, session), category="LOW_EFFORT", message=MESSAGE)
    platform_outbox.send_due(client_there, now=NOW)
    assert there.submissions[session]["status"] == "REJECTED"
    assert there.free(made.external_id) == 3


def test_the_same_key_for_something_else_is_refused(made: PlatformStudy, session: str) -> None:
    platform_actions.grant_bonus(**about(made, session), amount=100, reason="thanks")
    with pytest.raises(platform_actions.AlreadyRequestedError):
        platform_actions.grant_bonus(**about(made, session), amount=200, reason="thanks")
    with pytest.raises(platform_actions.BadAmountError):
        platform_actions.grant_bonus(**about(made, session, "n"), amount=0, reason="nothing")
    with pytest.raises(platform_actions.NotFromPlatformError):
        platform_actions.approve(**about(made, "never-came"))


def test_a_decision_waits_until_the_person_hands_in_there(
    there: Prolific, client_there: Client, made: PlatformStudy
) -> None:
    session = there.take_place(made.external_id, PERSON)
    came(made, PERSON, session)
    there.move(session, "ACTIVE")
    action = platform_actions.approve(**about(made, session))
    platform_outbox.send_due(client_there, now=NOW)
    action.refresh_from_db()
    assert (action.state, action.tries) == (ActionState.WAITING, 0)
    there.move(session, "TIMED-OUT")  # who times out may still finish
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    platform_outbox.send_due(client_there, now=NOW + timedelta(minutes=6))
    assert there.submissions[session]["status"] == "APPROVED"


def test_what_is_decided_there_is_not_decided_again(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    there._decide(there.submissions[session], {"action": "APPROVE"})  # somebody clicked there
    action = platform_actions.reject(**about(made, session), category="OTHER", message=MESSAGE)
    platform_outbox.send_due(client_there, now=NOW)
    action.refresh_from_db()
    assert action.state == ActionState.FAILED
    assert action.error
    assert platform_actions.drop(action=action, now=NOW).state == ActionState.DROPPED


def test_a_decision_in_place_of_one_that_was_not_sent(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    first = platform_actions.approve(**about(made, session, "a"))
    platform_actions.reject(**about(made, session, "b"), category="OTHER", message=MESSAGE)
    platform_outbox.send_due(client_there, now=NOW)
    assert state_of(first) == ActionState.DROPPED
    assert there.submissions[session]["status"] == "REJECTED"


def test_screening_out_uses_the_researchers_code(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    platform_actions.screen_out(**about(made, session))
    platform_outbox.send_due(client_there, now=NOW)
    assert there.submissions[session]["status"] == "SCREENED OUT"
    without = advertised(terms=replace(TERMS, screen_out_reward=None))
    with pytest.raises(platform_actions.NoScreenOutError):
        platform_actions.screen_out(**about(without, finished(there, without)))


def test_nobody_is_paid_for_somebody_elses_visit(there: Prolific, client_there: Client, made: PlatformStudy) -> None:
    session = there.take_place(made.external_id, PERSON)
    forger = came(made, "5f00000000000000000000bb", session)
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    action = platform_actions.grant_bonus(**about(made, session), amount=100, reason="x", participant=forger)
    platform_outbox.send_due(client_there, now=NOW)
    action.refresh_from_db()
    assert action.state == ActionState.FAILED
    assert action.error
    assert not there.paid


@pytest.mark.parametrize("shows_at_once", [True, False])
def test_a_bonus_whose_answer_was_lost_is_not_paid_twice(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str, shows_at_once: bool
) -> None:
    there.shows_bonuses_at_once = shows_at_once
    there.after = lambda _method, path: "drop" if path.endswith("/pay/") else None
    action = platform_actions.grant_bonus(**about(made, session), amount=425, reason="thanks")
    platform_outbox.send_due(client_there, now=NOW)
    assert state_of(action) == ActionState.UNKNOWN
    platform_outbox.send_due(client_there, now=NOW + timedelta(minutes=6))
    there.show_bonuses()
    platform_outbox.send_due(client_there, now=NOW + timedelta(minutes=12))
    assert state_of(action) == ActionState.DONE
    assert there.paid == [(session, 425)]


def test_a_bonus_that_never_shows_waits_for_a_person(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    there.before = lambda _method, path: "drop" if path.endswith("/pay/") else None  # never carried out
    action = platform_actions.grant_bonus(**about(made, session), amount=425, reason="thanks")
    for hours in range(8):
        platform_outbox.send_due(client_there, now=NOW + timedelta(hours=hours))
    action.refresh_from_db()
    assert (action.state, action.may_be_paid, there.paid) == (ActionState.FAILED, True, [])
    there.before = lambda _method, _path: None
    platform_actions.retry(action=action, now=NOW + LONG)
    platform_outbox.send_due(client_there, now=NOW + LONG)
    assert there.paid == [(session, 425)]


def test_two_bonuses_of_one_amount_are_two(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    there.shows_bonuses_at_once = False
    for key in ("a", "b"):
        platform_actions.grant_bonus(**about(made, session, key), amount=425, reason=key)
    platform_outbox.send_due(client_there, now=NOW, at_once=1)
    there.before = lambda _method, path: "drop" if path.endswith("/pay/") else None  # the second is not carried out
    platform_outbox.send_due(client_there, now=NOW)
    there.show_bonuses()  # the first shows, and must not be taken for the second
    platform_outbox.send_due(client_there, now=NOW + timedelta(minutes=6))
    rows = PlatformAction.objects.filter(kind=ActionKind.BONUS)
    assert rows.get(key="b").state == ActionState.UNKNOWN
    assert there.paid == [(session, 425)]
    # One at a time whose fate is unknown is a rule of the table.
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.filter(key="a").update(state=ActionState.UNKNOWN)


def test_a_worker_that_dies_after_paying_is_found_out(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    platform_actions.grant_bonus(**about(made, session), amount=425, reason="thanks")
    action = platform_outbox.QUEUE.claim(NOW)
    assert action is not None
    with pytest.raises(platform_outbox.Done):
        platform_outbox._send(client_there, action, NOW)  # and here it dies, before it writes down that it is done
    assert platform_outbox.QUEUE.claim(NOW + timedelta(minutes=1)) is None
    platform_outbox.send_due(client_there, now=NOW + timedelta(minutes=10))
    assert state_of(action) == ActionState.DONE
    assert there.paid == [(session, 425)]


def test_busy_and_a_wrong_token_lose_nothing(
    there: Prolific, client_there: Client, made: PlatformStudy, session: str
) -> None:
    action = platform_actions.approve(**about(made, session))

    def refuse_with(problem: Problem) -> None:
        def refuse(_method: str, _path: str) -> None:
            raise problem

        there.before = refuse  # type: ignore[assignment]

    refuse_with(Problem(429, "Later.", Retry_After="120"))
    platform_outbox.send_due(client_there, now=NOW)
    action.refresh_from_db()
    assert (action.state, action.due_at, action.tries) == (ActionState.WAITING, NOW + timedelta(seconds=120), 0)
    refuse_with(Problem(401, "No."))
    platform_outbox.send_due(client_there, now=NOW + timedelta(minutes=3))
    assert state_of(action) == ActionState.WAITING
    there.before = lambda _method, _path: None
    platform_outbox.send_due(client_there, now=NOW + timedelta(minutes=30))
    assert there.submissions[session]["status"] == "APPROVED"


LOSSES = st.lists(st.sampled_from(["", "before", "after", "busy", "fault"]), max_size=12)


@pytest.mark.extended
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(losses=LOSSES, kind=st.sampled_from(["approve", "reject", "bonus"]), dies=st.integers(0, 2))
def test_whatever_is_lost_the_effect_is_one(  # noqa: C901
    there: Prolific, client_there: Client, losses: list[str], kind: str, dies: int
) -> None:
    PlatformAction.objects.all().delete()
    there.__init__()  # type: ignore[misc]
    there.currency = "EUR"
    made = advertised()
    session = finished(there, made)
    left = iter(losses)

    def trouble(moment: str) -> Any:
        def arises(method: str, _path: str) -> str | None:
            if moment == "before":
                trouble.now = next(left, "") if method == "POST" else ""  # type: ignore[attr-defined]
            now = trouble.now  # type: ignore[attr-defined]
            if moment == "before" and now == "busy":
                raise Problem(429, "Later.", Retry_After="1")
            if moment == "before" and now == "fault":
                raise Problem(503, "A fault.")
            return "drop" if now == moment else None

        return arises

    there.before, there.after = trouble("before"), trouble("after")
    if kind == "approve":
        action = platform_actions.approve(**about(made, session))
    elif kind == "reject":
        action = platform_actions.reject(**about(made, session), category="OTHER", message=MESSAGE)
    else:
        action = platform_actions.grant_bonus(**about(made, session), amount=425, reason="thanks")
    now = NOW
    for number in range(40):
        now += timedelta(minutes=30)
        if number < dies and (held := platform_outbox.QUEUE.claim(now)) is not None:
            try:
                platform_outbox._send(client_there, held, now)
            except Exception:  # noqa: BLE001
                continue
        platform_outbox.send_due(client_there, now=now)
        action.refresh_from_db()
        if action.state == ActionState.DONE:
            break
        if action.state == ActionState.FAILED:
            # A person looks, finds that it was not paid, and says so.
            assert action.may_be_paid
            assert not there.paid
            action = platform_actions.retry(action=action, now=now)
    assert action.state == ActionState.DONE
    assert there.submissions[session]["status"] == {"approve": "APPROVED", "reject": "REJECTED"}.get(
        kind, "AWAITING REVIEW"
    )
    assert there.paid == ([(session, 425)] if kind == "bonus" else [])


@pytest.mark.parametrize(("shows_at_once", "turns"), [(True, (1, 0)), (False, (0, 1, 0))])
def test_two_who_hold_one_order_pay_once(
    there: Prolific,
    client_there: Client,
    made: PlatformStudy,
    session: str,
    shows_at_once: bool,
    turns: tuple[int, ...],
) -> None:
    there.shows_bonuses_at_once = shows_at_once  # if not, neither sees what the other did
    action = platform_actions.grant_bonus(**about(made, session), amount=425, reason="thanks")
    later = NOW + timedelta(minutes=10)
    held = [
        platform_outbox.QUEUE.claim(NOW),
        platform_outbox.QUEUE.claim(later),
    ]  # the first one's lease is over; it is only slow
    assert None not in held
    assert held[0].attempt < held[1].attempt  # type: ignore[union-attr]
    for turn in turns:
        platform_outbox.send(client_there, held[turn], now=later)  # type: ignore[arg-type]
    assert there.paid == [(session, 425)]
    assert not shows_at_once or state_of(action) == ActionState.DONE

"""What the platform is told: once in effect, whatever is lost on the way."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdrag.recruitment.domain import listings, orders, talking
from crowdrag.recruitment.domain.orders import bonuses, claiming, sending
from crowdrag.recruitment.domain.prolific.client import Client
from crowdrag.recruitment.enums import OrderKind, OrderState
from crowdrag.recruitment.models import PlatformOrder, PlatformStudy, Submission
from tests.examples import examples
from tests.factories import NOW

from .conftest import TERMS, WAY, advertised
from .prolific_server import Problem, Prolific
from .test_hearing import PERSON, came

pytestmark = pytest.mark.django_db
MESSAGE = "The answers do not follow the questions: in eleven of fifteen cases the longer text was chosen, unread."
LONG = timedelta(days=1)


def finished(there: Prolific, made: PlatformStudy, person: str = PERSON) -> str:
    """Somebody came, worked, and handed in on the platform."""
    session = there.take_place(made.external_id, person)
    came(made, person, session)
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    return session


def about(made: PlatformStudy, session: str, key: str = "k", **more: Any) -> dict[str, Any]:
    return {"study": made.study, "purpose": WAY, "session": session, "key": key, "now": NOW, **more}


def test_an_approval_is_sent_once(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    order = orders.approve(**about(made, session))
    assert orders.approve(**about(made, session)) == order
    assert sending.send_due(client_there, now=NOW) == 1
    assert sending.send_due(client_there, now=NOW + LONG) == 0
    order.refresh_from_db()
    assert order.state == OrderState.DONE
    assert there.submissions[session]["status"] == "APPROVED"
    assert Submission.objects.get().status == "APPROVED"


def test_a_rejection_is_checked_before_it_is_ordered(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    with pytest.raises(orders.ShortMessageError):
        orders.reject(**about(made, session), category="LOW_EFFORT", message="x" * 99)
    with pytest.raises(orders.OrderError):
        orders.reject(**about(made, session), category="DISLIKED", message=MESSAGE)
    assert not PlatformOrder.objects.exists()
    orders.reject(**about(made, session), category="LOW_EFFORT", message=MESSAGE)
    sending.send_due(client_there, now=NOW)
    assert there.submissions[session]["status"] == "REJECTED"
    assert there.free(made.external_id) == 3


def test_the_same_key_for_something_else_is_refused(there: Prolific) -> None:
    made = advertised()
    session = finished(there, made)
    orders.bonus(**about(made, session), amount=100, reason="thanks")
    with pytest.raises(orders.AlreadyOrderedError):
        orders.bonus(**about(made, session), amount=200, reason="thanks")
    with pytest.raises(orders.BadAmountError):
        orders.bonus(**about(made, session, "n"), amount=0, reason="nothing")
    with pytest.raises(orders.NotFromPlatformError):
        orders.approve(**about(made, "never-came"))


def test_a_decision_waits_until_the_person_hands_in_there(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    came(made, PERSON, session)
    there.move(session, "ACTIVE")
    order = orders.approve(**about(made, session))
    sending.send_due(client_there, now=NOW)
    order.refresh_from_db()
    assert (order.state, order.tries) == (OrderState.WAITING, 0)
    there.move(session, "TIMED-OUT")  # who times out may still finish
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    sending.send_due(client_there, now=NOW + timedelta(minutes=6))
    assert there.submissions[session]["status"] == "APPROVED"


def test_what_is_decided_there_is_not_decided_again(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    there._decide(there.submissions[session], {"action": "APPROVE"})  # somebody clicked there
    order = orders.reject(**about(made, session), category="OTHER", message=MESSAGE)
    sending.send_due(client_there, now=NOW)
    order.refresh_from_db()
    assert order.state == OrderState.FAILED
    assert "already" in order.error
    assert orders.drop(order=order, now=NOW).state == OrderState.DROPPED


def test_a_decision_in_place_of_one_that_was_not_sent(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    first = orders.approve(**about(made, session, "a"))
    orders.reject(**about(made, session, "b"), category="OTHER", message=MESSAGE)
    sending.send_due(client_there, now=NOW)
    first.refresh_from_db()
    assert first.state == OrderState.DROPPED
    assert there.submissions[session]["status"] == "REJECTED"


def test_screening_out_uses_the_researchers_code(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    orders.screen_out(**about(made, session))
    sending.send_due(client_there, now=NOW)
    assert there.submissions[session]["status"] == "SCREENED OUT"


def test_no_screening_out_without_a_code_for_it(there: Prolific) -> None:
    made = advertised(terms=TERMS.__class__(**{**TERMS.__dict__, "screen_out_reward": None}))
    with pytest.raises(orders.NoScreenOutError):
        orders.screen_out(**about(made, finished(there, made)))


def test_nobody_is_paid_for_somebody_elses_visit(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    forger = came(made, "5f00000000000000000000bb", session)
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    order = orders.bonus(**about(made, session), amount=100, reason="x", participant=forger)
    sending.send_due(client_there, now=NOW)
    order.refresh_from_db()
    assert order.state == OrderState.FAILED
    assert "somebody else" in order.error
    assert not there.paid


def test_a_bonus_is_paid_in_major_units(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    orders.bonus(**about(made, session), amount=425, reason="thanks")
    sending.send_due(client_there, now=NOW)
    assert there.paid == [(session, 425)]


@pytest.mark.parametrize("shows_at_once", [True, False])
def test_a_bonus_whose_answer_was_lost_is_not_paid_twice(
    there: Prolific, client_there: Client, shows_at_once: bool
) -> None:
    made = advertised()
    session = finished(there, made)
    there.shows_bonuses_at_once = shows_at_once
    there.after = lambda _method, path: "drop" if path.endswith("/pay/") else None
    order = orders.bonus(**about(made, session), amount=425, reason="thanks")
    sending.send_due(client_there, now=NOW)
    order.refresh_from_db()
    assert order.state == OrderState.UNKNOWN
    sending.send_due(client_there, now=NOW + timedelta(minutes=6))
    there.show_bonuses()
    sending.send_due(client_there, now=NOW + timedelta(minutes=12))
    order.refresh_from_db()
    assert order.state == OrderState.DONE
    assert there.paid == [(session, 425)]


def test_a_bonus_that_never_shows_waits_for_a_person(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    there.before = lambda _method, path: "drop" if path.endswith("/pay/") else None  # never carried out
    order = orders.bonus(**about(made, session), amount=425, reason="thanks")
    for hours in range(8):
        sending.send_due(client_there, now=NOW + timedelta(hours=hours))
    order.refresh_from_db()
    assert order.state == OrderState.FAILED
    assert not there.paid
    assert order.may_be_paid
    there.before = lambda _method, _path: None
    orders.retry(order=order, now=NOW + LONG)
    sending.send_due(client_there, now=NOW + LONG)
    assert there.paid == [(session, 425)]


def test_two_bonuses_of_one_amount_are_two(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    there.shows_bonuses_at_once = False
    for key in ("a", "b"):
        orders.bonus(**about(made, session, key), amount=425, reason=key)
    sending.send_due(client_there, now=NOW, at_once=1)
    there.before = lambda _method, path: "drop" if path.endswith("/pay/") else None  # the second is not carried out
    sending.send_due(client_there, now=NOW)
    there.show_bonuses()  # the first shows, and must not be taken for the second
    sending.send_due(client_there, now=NOW + timedelta(minutes=6))
    second = PlatformOrder.objects.get(key="b")
    assert second.state == OrderState.UNKNOWN
    assert there.paid == [(session, 425)]


def test_a_worker_that_dies_after_paying_is_found_out(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    orders.bonus(**about(made, session), amount=425, reason="thanks")
    order = claiming.claim(now=NOW)
    assert order is not None
    with pytest.raises(bonuses.Done):
        sending._send(client_there, order, NOW)  # and here it dies, before it writes down that it is done
    assert claiming.claim(now=NOW + timedelta(minutes=1)) is None
    sending.send_due(client_there, now=NOW + timedelta(minutes=10))
    order.refresh_from_db()
    assert order.state == OrderState.DONE
    assert there.paid == [(session, 425)]


def test_busy_and_a_wrong_token_lose_nothing(
    there: Prolific, client_there: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = advertised()
    session = finished(there, made)
    order = orders.approve(**about(made, session))

    def busy(_method: str, _path: str) -> None:
        raise Problem(429, "Later.", Retry_After="120")

    there.before = busy  # type: ignore[assignment]
    sending.send_due(client_there, now=NOW)
    order.refresh_from_db()
    assert (order.state, order.due_at, order.tries) == (OrderState.WAITING, NOW + timedelta(seconds=120), 0)

    def unauthorized(_method: str, _path: str) -> None:
        raise Problem(401, "No.")

    there.before = unauthorized  # type: ignore[assignment]
    sending.send_due(client_there, now=NOW + timedelta(minutes=3))
    order.refresh_from_db()
    assert order.state == OrderState.WAITING
    there.before = lambda _method, _path: None
    sending.send_due(client_there, now=NOW + timedelta(minutes=30))
    assert there.submissions[session]["status"] == "APPROVED"


LOSSES = st.lists(st.sampled_from(["", "before", "after", "busy", "fault"]), max_size=12)


@pytest.mark.extended
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(losses=LOSSES, kind=st.sampled_from(["approve", "reject", "bonus"]), dies=st.integers(0, 2))
def test_whatever_is_lost_the_effect_is_one(  # noqa: C901
    there: Prolific, client_there: Client, losses: list[str], kind: str, dies: int
) -> None:
    PlatformOrder.objects.all().delete()
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
        order = orders.approve(**about(made, session))
    elif kind == "reject":
        order = orders.reject(**about(made, session), category="OTHER", message=MESSAGE)
    else:
        order = orders.bonus(**about(made, session), amount=425, reason="thanks")
    now = NOW
    for number in range(40):
        now += timedelta(minutes=30)
        if number < dies and (held := claiming.claim(now=now)) is not None:
            try:
                sending._send(client_there, held, now)
            except Exception:  # noqa: BLE001
                continue
        sending.send_due(client_there, now=now)
        order.refresh_from_db()
        if order.state == OrderState.DONE:
            break
        if order.state == OrderState.FAILED:
            # A person looks, finds that it was not paid, and says so.
            assert order.may_be_paid
            assert not there.paid
            order = orders.retry(order=order, now=now)
    assert order.state == OrderState.DONE
    assert there.submissions[session]["status"] == {"approve": "APPROVED", "reject": "REJECTED"}.get(
        kind, "AWAITING REVIEW"
    )
    assert there.paid == ([(session, 425)] if kind == "bonus" else [])


def test_the_talk_does_it_all(there: Prolific) -> None:
    made = advertised()
    session = finished(there, made)
    orders.approve(**about(made, session))
    PlatformOrder.objects.update(due_at=NOW)
    assert talking.is_due(NOW + LONG)
    assert talking.talk(now=NOW + LONG)
    assert there.submissions[session]["status"] == "APPROVED"
    made.refresh_from_db()
    assert made.seen_at == NOW + LONG
    assert not talking.is_due(NOW + LONG)
    assert listings.due(NOW + LONG + timedelta(hours=2))


def test_one_bonus_at_a_time_is_a_rule_of_the_table(there: Prolific) -> None:
    from django.db import IntegrityError, transaction

    made = advertised()
    session = finished(there, made)
    for key in ("a", "b"):
        orders.bonus(**about(made, session, key), amount=425, reason=key)
    rows = PlatformOrder.objects.filter(kind=OrderKind.BONUS)
    rows.filter(key="a").update(state=OrderState.UNKNOWN)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.filter(key="b").update(state=OrderState.UNKNOWN)


def test_whoever_lost_an_order_pays_nothing(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    orders.bonus(**about(made, session), amount=425, reason="thanks")
    first = claiming.claim(now=NOW)
    second = claiming.claim(now=NOW + timedelta(minutes=10))  # the first one's lease is over; it is only slow
    assert first is not None
    assert second is not None
    assert first.attempt < second.attempt
    sending.send(client_there, second, now=NOW + timedelta(minutes=10))
    sending.send(client_there, first, now=NOW + timedelta(minutes=10))
    second.refresh_from_db()
    assert second.state == OrderState.DONE
    assert there.paid == [(session, 425)]


def test_two_who_hold_one_order_pay_once(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    there.shows_bonuses_at_once = False  # so that neither sees what the other did
    orders.bonus(**about(made, session), amount=425, reason="thanks")
    first = claiming.claim(now=NOW)
    second = claiming.claim(now=NOW + timedelta(minutes=10))
    assert first is not None
    assert second is not None
    for held in (first, second, first):
        sending.send(client_there, held, now=NOW + timedelta(minutes=10))
    assert there.paid == [(session, 425)]

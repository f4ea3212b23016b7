"""Messages are sent until they are taken or given up; whatever becomes of a worker, none is lost."""

import socket
import threading
from datetime import timedelta
from itertools import pairwise

import pytest

from crowdrag.webhooks import deliveries, outbox, services, transport
from crowdrag.webhooks.enums import DeliveryState, Event, WebhookState
from crowdrag.webhooks.models import Delivery, Message, Webhook
from tests.concurrency import meanwhile, together
from tests.factories import NOW, StudyFactory
from tests.webhooks.conftest import Clock, deliver, sent_test, subscribed
from tests.webhooks.receiver import Receiver, dripping

pytestmark = pytest.mark.django_db


def until_given_up(delivery: Delivery, clock: Clock, most: int = 50) -> list[timedelta]:
    """Send whenever it is due, until it is settled; how long each wait was."""
    waits = []
    for _ in range(most):
        deliveries.deliver_due(clock=clock)
        delivery.refresh_from_db()
        if delivery.state != DeliveryState.WAITING:
            return waits
        waits.append(delivery.due_at - clock.now)
        clock.now = delivery.due_at
    raise AssertionError("never settled")


def test_what_is_taken_is_not_sent_again_and_what_is_not_comes_later_and_later_with_the_same_id_and_body(
    there: Receiver,
) -> None:
    there.will(500, 503, 404)
    delivery, clock = sent_test(subscribed(there).webhook), Clock()
    assert until_given_up(delivery, clock) == [timedelta(seconds=5), timedelta(minutes=1), timedelta(minutes=5)]
    assert (delivery.state, delivery.tries, delivery.status) == (DeliveryState.DONE, 4, 204)
    assert delivery.webhook.succeeded_at == clock.now
    assert deliver(clock.now + timedelta(days=1)) == 0
    assert len({(came.headers["webhook-id"], came.body) for came in there.came}) == 1
    stamps = [int(came.headers["webhook-timestamp"]) for came in there.came]
    assert [late - early for early, late in pairwise(stamps)] == [5, 60, 300]


def test_ten_tries_in_about_three_days_are_all_and_an_address_that_took_nothing_is_switched_off(
    there: Receiver,
) -> None:
    there.will(*[500] * 20)
    made, clock = subscribed(there), Clock()
    delivery = sent_test(made.webhook)
    waits = until_given_up(delivery, clock)
    assert (delivery.state, delivery.tries, len(there.came)) == (DeliveryState.FAILED, 10, 10)
    assert timedelta(days=2) < sum(waits, timedelta()) < timedelta(days=4)
    assert waits == sorted(waits)
    made.webhook.refresh_from_db()
    assert made.webhook.state == WebhookState.FAILING
    assert "500" in delivery.problem


def test_an_address_that_takes_other_messages_meanwhile_stays_on(there: Receiver) -> None:
    there.will(*[500] * 10)
    made, clock = subscribed(there), Clock()
    delivery = sent_test(made.webhook)
    Webhook.objects.update(succeeded_at=NOW + timedelta(hours=1))
    until_given_up(delivery, clock)
    made.webhook.refresh_from_db()
    assert (delivery.state, made.webhook.state) == (DeliveryState.FAILED, WebhookState.ON)


def test_gone_ends_it_at_once(there: Receiver) -> None:
    there.will(410)
    made = subscribed(there)
    delivery = sent_test(made.webhook)
    deliver()
    delivery.refresh_from_db()
    made.webhook.refresh_from_db()
    assert (delivery.state, made.webhook.state) == (DeliveryState.FAILED, WebhookState.GONE)


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        ("3600", timedelta(hours=1)),
        ("1", timedelta(seconds=5)),
        ("999999999999", timedelta(hours=24)),
        ("soon", timedelta(seconds=5)),
        ("-5", timedelta(seconds=5)),
    ],
)
def test_an_address_that_asks_to_wait_is_waited_for_within_bounds(
    there: Receiver, asked: str, waited: timedelta
) -> None:
    there.will(429, retry_after=asked)
    delivery = sent_test(subscribed(there).webhook)
    deliver()
    delivery.refresh_from_db()
    assert delivery.due_at == NOW + waited


def test_an_answer_that_never_ends_holds_nobody_for_longer_than_a_try_may_take(there: Receiver) -> None:
    with dripping() as address:
        answer = transport.post(address=address, headers={}, body="{}", seconds=0.5)
    assert "0.5" in answer.problem


def test_a_host_where_nobody_listens_is_a_problem_in_words(there: Receiver) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    answer = transport.post(address=f"http://localhost:{port}/", headers={}, body="{}")
    assert (answer.status, bool(answer.problem)) == (None, True)


def test_a_fault_of_ours_loses_no_message(there: Receiver) -> None:
    delivery = sent_test(subscribed(there).webhook)

    def broken(**_said: object) -> transport.DeliveryResponse:
        raise RuntimeError("a fault")

    deliveries.deliver_due(clock=Clock(), post=broken)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.WAITING
    assert deliver(NOW + timedelta(minutes=1)) == 1


def test_one_that_a_dead_worker_held_is_sent_when_its_lease_is_over(there: Receiver) -> None:
    sent_test(subscribed(there).webhook)
    assert deliveries.QUEUE.claim(NOW) is not None
    assert deliver(NOW + deliveries.QUEUE.lease - timedelta(seconds=1)) == 0
    assert deliver(NOW + deliveries.QUEUE.lease) == 1


def test_a_worker_that_was_away_for_longer_than_its_lease_writes_nothing(there: Receiver) -> None:
    delivery = sent_test(subscribed(there).webhook)
    slow = deliveries.QUEUE.claim(NOW)
    assert slow is not None
    assert deliver(NOW + deliveries.QUEUE.lease) == 1
    assert not deliveries.QUEUE.settle(slow, state=DeliveryState.WAITING, due_at=NOW)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.DONE


def test_what_is_sent_to_while_it_is_switched_off_waits_until_it_is_on_again(there: Receiver) -> None:
    made = subscribed(there)
    sent_test(made.webhook)
    services.switch_off(webhook=made.webhook)
    assert deliver() == 0
    assert outbox.publish(study=made.webhook.study, event=Event.RUN_ENDED, data={}, now=NOW) is None
    services.switch_on(webhook=made.webhook, now=NOW)
    assert deliver() == 1


def test_what_was_given_up_is_sent_again_on_demand_under_the_same_id(there: Receiver) -> None:
    there.will(*[500] * 10)
    made, clock = subscribed(there), Clock()
    delivery = sent_test(made.webhook)
    until_given_up(delivery, clock)
    delivery = Delivery.objects.select_related("webhook").get()
    with pytest.raises(services.WebhookError):
        services.send_again(delivery=delivery, now=clock())
    services.switch_on(webhook=made.webhook, now=clock())
    delivery = Delivery.objects.select_related("webhook").get()
    services.send_again(delivery=delivery, now=clock())
    assert deliver(clock()) == 1
    assert len({came.headers["webhook-id"] for came in there.came}) == 1


def test_old_messages_are_forgotten_with_their_deliveries(there: Receiver) -> None:
    made = subscribed(there)
    sent_test(made.webhook)
    kept = sent_test(made.webhook, NOW + timedelta(days=1))
    assert outbox.remove_old(NOW + outbox.KEPT_FOR + timedelta(hours=1)) == 1
    assert list(Message.objects.values_list("pk", flat=True)) == [kept.message_id]
    assert Delivery.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_many_workers_at_once_send_each_message_once_and_one_address_one_at_a_time(there: Receiver) -> None:
    there.waits = 0.02
    made = subscribed(there)
    for _ in range(20):
        sent_test(made.webhook)

    def work() -> int:
        return deliveries.deliver_due(clock=lambda: NOW)

    while Delivery.objects.filter(state=DeliveryState.WAITING).exists():
        together([work] * 4)
    names = [came.headers["webhook-id"] for came in there.came]
    assert len(names) == len(set(names)) == 20
    assert there.most_at_once == 1


@pytest.mark.django_db(transaction=True)
def test_an_address_that_answers_slowly_keeps_no_other_waiting(there: Receiver) -> None:
    slow = subscribed(there)
    quick = subscribed(there, study=slow.webhook.study, address=f"http://localhost:{there.port}/quick")
    sent_test(slow.webhook)
    sent_test(quick.webhook)
    entered, leave = threading.Event(), threading.Event()

    def post(address: str, **said: object) -> transport.DeliveryResponse:
        if not address.endswith("/quick"):
            entered.set()
            leave.wait(10)
        return transport.DeliveryResponse(204)

    with meanwhile(lambda: deliveries.deliver_due(clock=lambda: NOW, post=post)):
        assert entered.wait(10)
        assert deliveries.deliver_due(clock=lambda: NOW, post=post) == 1
        assert Delivery.objects.get(webhook=quick.webhook).state == DeliveryState.DONE
        leave.set()
    assert Delivery.objects.get(webhook=slow.webhook).state == DeliveryState.DONE


def test_a_webhook_of_another_study_is_told_nothing(there: Receiver) -> None:
    subscribed(there)
    assert outbox.publish(study=StudyFactory(slug="other"), event=Event.RUN_ENDED, data={}, now=NOW) is None

"""What becomes of paid work and of messages is told to those who gave an address."""

from copy import deepcopy
from datetime import timedelta

import pytest

from crowdrag.assignments import undo
from crowdrag.assignments.lifecycle import LEASE_OVER
from crowdrag.mail.enums import Event, MailState
from crowdrag.mail.models import Mail
from crowdrag.payments import services as payments
from crowdrag.payments.enums import PaymentMethod
from crowdrag.payments.models import PaymentList, PaymentListLine
from crowdrag.studies.enums import MessageKind
from crowdrag.studies.messages import services as messages
from tests.factories import NOW, ParticipantFactory, UserFactory
from tests.mail.conftest import wants_mail
from tests.writing.open_plan import DAY, World, hand_in, world
from writing.assignments import leases
from writing.models import WritingTask
from writing.review import services as review

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    return world(topics=2, pay=250)


@pytest.fixture
def here(built: World, db: None) -> World:
    return deepcopy(built)


def told() -> list[str]:
    return list(Mail.objects.exclude(state=MailState.DROPPED).order_by("pk").values_list("event", flat=True))


@pytest.fixture
def task(here: World) -> WritingTask:
    return here.claim(wants_mail(here.writer()))


def test_a_text_is_received_and_accepted(here: World, task: WritingTask) -> None:
    hand_in(task)
    assert told() == [Event.SUBMITTED]
    Mail.objects.update(state=MailState.DONE, sent_at=NOW)
    review.accept(task=task, by=here.reviewer(), now=NOW + DAY)
    mail = Mail.objects.get(event=Event.ACCEPTED)
    assert (mail.details["amount"], mail.details["about"]) == (250, task.external_id)
    assert mail.due_at == undo.deadline(NOW + DAY)


def test_time_that_is_over_is_told_and_a_task_given_back_is_not(here: World, task: WritingTask) -> None:
    leases.release(task, cause="given back", now=NOW)
    assert told() == []
    other = here.claim(wants_mail(here.writer(), "bo@example.org"))
    leases.release(other, cause=LEASE_OVER, now=NOW)
    assert told() == [Event.RETURNED]


def test_a_payment_list_that_is_paid_is_told_to_each_person_once() -> None:
    person, by = wants_mail(ParticipantFactory()), UserFactory()
    made = PaymentList.objects.create(study=person.study, method=PaymentMethod.values[0], created_at=NOW, created_by=by)
    PaymentListLine.objects.create(list=made, participant=person, amount=1250)
    for _ in range(2):
        payments.mark_paid(payment_list=made, reference="transfer 7", by=by, now=NOW)
        payments.take_back(payment_list=made, by=by, now=NOW)
    assert list(Mail.objects.values_list("event", "details__amount")) == [(Event.PAID, 1250)]


def test_an_answer_is_told_once() -> None:
    person = wants_mail(ParticipantFactory())
    message = messages.ask(participant=person, kind=MessageKind.QUESTION, text="When?", now=NOW)
    by = UserFactory()
    for text in ("Soon.", "Soon."):
        messages.answer(message=message, text=text, by=by, now=NOW)
    assert told() == [Event.ANSWERED]
    messages.answer(message=message, text="Tomorrow.", by=by, now=NOW + timedelta(hours=1))
    assert Mail.objects.count() == 2

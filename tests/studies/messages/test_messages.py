"""Asking the researchers, and being answered."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from crowdrag.studies.enums import MessageKind, Role
from crowdrag.studies.messages import services
from crowdrag.studies.models import Participant, ParticipantMessage
from tests.factories import MembershipFactory, ParticipantFactory, ResponseFactory, WritingTaskFactory
from tests.participants import as_participant
from tests.studies.activity import member, offered_study
from writing.enums import TaskState
from writing.models import WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(client: Client) -> Participant:
    made = ParticipantFactory(study=offered_study())
    as_participant(client, made)
    return made


def ask(person: Participant, text: str = "When am I paid?", **fields: Any) -> ParticipantMessage:
    common: dict[str, Any] = {"kind": MessageKind.QUESTION, "now": timezone.now()}
    return services.ask(participant=person, text=text, **(common | fields))


def researcher(person: Participant, role: Role = Role.REVIEWER) -> Client:
    return member(person.study, role)


def test_what_is_asked_is_answered_on_the_own_page(client: Client, person: Participant) -> None:
    address = reverse("participant_message_new", args=[person.study.slug])
    form = client.get(f"{address}?kind=CONTEST&about=task-7").content.decode()
    assert 'value="task-7"' in form
    assert '<option value="CONTEST" selected>' in form
    client.post(address, {"kind": "CONTEST", "about": "task-7", "text": "It was <b>right</b>."})
    message = ParticipantMessage.objects.get()
    assert (message.kind, message.about, message.participant) == ("CONTEST", "task-7", person)

    desk = researcher(person)
    page = desk.get(reverse("participant_messages", args=[person.study.slug])).content.decode()
    assert "&lt;b&gt;right" in page
    assert "<b>right" not in page
    desk.post(
        reverse("participant_message_answer", args=[person.study.slug, message.pk]), {"text": "You are <i>right</i>."}
    )
    own = client.get(reverse("participant_dashboard", args=[person.study.slug])).content.decode()
    assert "You are &lt;i&gt;right" in own


def test_the_researcher_gets_from_the_question_to_the_work(client: Client, person: Participant) -> None:
    mine, others = (
        ResponseFactory(topic__study=person.study, task=WritingTaskFactory(claimed=True, topic__study=person.study))
        for _ in range(2)
    )
    WritingTask.objects.filter(pk=mine.task.pk).update(participant=person)
    for task in (mine.task, others.task):
        ask(person, about=task.external_id)
    page = researcher(person).get(reverse("participant_messages", args=[person.study.slug])).content.decode()
    assert f'href="{reverse("review_task", args=[person.study.slug, mine.task.external_id])}"' in page
    assert f">{escape(mine.task.topic.query)}</a>" in page, "by what people call it"
    assert escape(others.task.topic.query) not in page
    address = f"{reverse('participant_message_new', args=[person.study.slug])}?about={mine.task.external_id}"
    form = client.get(address).content.decode()
    assert form.count(f">{escape(mine.task.topic.query)}</span>") == 2, "in the form, and in what was asked"
    assert reverse("review_task", args=[person.study.slug, others.task.external_id]) not in page


def test_a_contested_rejection_is_taken_back_from_where_it_is_answered(person: Participant) -> None:
    task = ResponseFactory(
        topic__study=person.study, task=WritingTaskFactory(claimed=True, topic__study=person.study)
    ).task
    WritingTask.objects.filter(pk=task.pk).update(participant=person, state=TaskState.REJECTED)
    message = ask(person, kind=MessageKind.CONTEST, about=task.external_id)
    desk, page = researcher(person), reverse("participant_messages", args=[person.study.slug])
    address = f"{reverse('review_task', args=[person.study.slug, task.external_id])}?open=reverse"
    desk.post(reverse("participant_message_answer", args=[person.study.slug, message.pk]), {"text": "You are right."})
    assert f'href="{address}"' in desk.get(page).content.decode(), "an answer changes nothing"
    assert 'data-review-panel="a" open' in desk.get(address).content.decode()
    desk.post(reverse("review_reverse", args=[person.study.slug, task.external_id]), {"note": "We were wrong."})
    assert "?open=reverse" not in desk.get(page).content.decode()


def test_others_do_not_see_it(person: Participant) -> None:
    ask(person, "mine alone")
    other = Client()
    as_participant(other, ParticipantFactory(study=person.study))
    for name in ("participant_dashboard", "participant_message_new"):
        assert "mine alone" not in other.get(reverse(name, args=[person.study.slug])).content.decode()


def test_an_answer_has_words_and_goes_to_the_own_studys_message_alone(person: Participant) -> None:
    desk = researcher(person)
    for message, text, status in ((ask(ParticipantFactory(study=offered_study())), "x", 404), (ask(person), " ", 422)):
        address = reverse("participant_message_answer", args=[person.study.slug, message.pk])
        assert desk.post(address, {"text": text}).status_code == status
        message.refresh_from_db()
        assert (message.answer, message.answered_at) == ("", None)


def test_unanswered_ones_come_first_and_are_counted(person: Participant) -> None:
    first, second, third = (ask(person, f"number {n}") for n in range(3))
    services.answer(message=first, text="yes", by=MembershipFactory(study=person.study).user, now=timezone.now())
    assert services.list_of_study(person.study) == [second, third, first]
    assert services.count_unanswered(person.study) == 2


def test_a_flood_is_held_back(client: Client, person: Participant) -> None:
    address = reverse("participant_message_new", args=[person.study.slug])
    for number in range(services.MAX_OPEN):
        assert client.post(address, {"kind": "QUESTION", "text": f"{number}"}).status_code == 302
    refused = client.post(address, {"kind": "QUESTION", "text": "one more"})
    assert (refused.status_code, "one more" in refused.content.decode()) == (422, True)
    first = ParticipantMessage.objects.order_by("pk")[0]
    services.answer(message=first, text="yes", by=MembershipFactory().user, now=timezone.now())
    assert client.post(address, {"kind": "QUESTION", "text": "one more"}).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_a_flood_of_requests_at_once_is_held_back_too() -> None:
    person = ParticipantFactory(study=offered_study())
    for number in range(services.MAX_OPEN - 2):
        ask(person, str(number))

    def one(number: int) -> bool:
        try:
            ask(person, f"at once {number}")
        except services.MessageError:
            return False
        else:
            return True
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(8))) == 2
    assert person.messages.count() == services.MAX_OPEN


def test_what_cannot_be_kept_is_refused(client: Client, person: Participant) -> None:
    good = {"kind": "QUESTION", "text": "a"}
    for wrong in (
        {"text": ""}, {"text": "   "}, {"text": "a" * (services.MAX_LENGTH + 1)}, {"text": "a\0b"}, {"kind": "ORDER"},
        {"about": "<script>"},
    ):  # fmt: skip
        assert (
            client.post(reverse("participant_message_new", args=[person.study.slug]), good | wrong).status_code == 422
        ), wrong
    assert not ParticipantMessage.objects.exists()

"""A writer's pages around the editor, and each POST sent again because its answer was lost."""

from copy import deepcopy
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowdrag.studies import ways
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import Arrival, EntryLink, Participant
from tests.factories import NOW, ConsentTextFactory, ParticipantFactory
from tests.participants import as_participant
from writing.domain import surveys
from writing.domain.tasks import claiming, holding, leases, reviewing
from writing.enums import SurveyKind, TaskState
from writing.models import Response, SurveyAnswers, TaskTransition, WritingInstructions, WritingPlan, WritingTask

from .plans import World, finish, hand_in, world, write

pytestmark = pytest.mark.django_db
ENTRY = {"query_answerable": "1", "query_controversial": "0", "worker_knowledge": "3", "worker_expertise": "1"}
EXIT = {"worker_satisfaction": "1", "references_quality": "4", "references_extra": "2", "references_omission": "-1"}
HOSTILE = '<script>alert(1)</script>&"'


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    made = world(topics=3, pay=275, minutes=25)
    for kind, name in ((SurveyKind.ENTRY, "entry_survey"), (SurveyKind.EXIT, "exit_survey")):
        made.change(**{name: surveys.ensure(study=made.study, kind=kind, now=NOW)})
    return made


@pytest.fixture
def here(built: World, db: None) -> World:
    return deepcopy(built)


@pytest.fixture
def person(here: World) -> Participant:
    return here.writer()


@pytest.fixture
def tab(person: Participant) -> Client:
    client = Client()
    as_participant(client, person)
    return client


def at(name: str, here: World, task: WritingTask | None = None) -> str:
    return reverse(name, args=[here.study.slug, *([task.external_id] if task else [])])


def now_claimed(here: World, person: Participant) -> WritingTask:
    return claiming.claim(study=here.study, participant=person, now=timezone.now())


def text_of(answer) -> str:
    return answer.content.decode()


def test_the_whole_way(here: World, person: Participant, tab: Client) -> None:
    page = text_of(tab.get(at("writing_start", here)))
    assert "USD\u00a02.75" in page
    assert "Write, and cite." in page
    task_page = tab.post(at("writing_start", here))
    task = holding.in_hand(person)
    assert task_page["Location"] == at("writing_task", here, task)
    assert tab.get(task_page["Location"])["Location"] == at("writing_entry", here, task)
    assert task.topic.query in text_of(tab.get(at("writing_entry", here, task)))
    assert tab.post(at("writing_entry", here, task), ENTRY)["Location"] == at("writing_task", here, task)
    assert tab.get(at("writing_task", here, task))["Location"] == at("writing_editor", here, task)
    assert SurveyAnswers.objects.get(task=task).answers == {name: int(value) for name, value in ENTRY.items()}
    assert tab.get(at("writing_done", here, task))["Location"] == at("writing_task", here, task), "not done yet"
    finish(task, "A claim [0].", now=timezone.now())
    assert tab.get(at("writing_task", here, task))["Location"] == at("writing_exit", here, task)
    assert "A claim [0]." in text_of(tab.get(at("writing_exit", here, task)))
    tab.post(at("writing_exit", here, task), EXIT)
    assert tab.get(at("writing_task", here, task))["Location"] == at("writing_done", here, task)
    done = text_of(tab.get(at("writing_done", here, task)))
    assert "Your response has arrived" in done
    assert "USD\u00a02.75 are added" in done
    assert "Write another response" in done
    response = Response.objects.get()
    assert response.text == "A claim [0]."
    assert SurveyAnswers.objects.get(task=task, survey__kind=SurveyKind.EXIT).answers["references_omission"] == -1


def test_every_post_may_be_sent_again(here: World, person: Participant, tab: Client) -> None:
    """The answer was lost, so the browser or the person sends the same once more: one effect, the same answer."""

    def thrice(name: str, data: dict[str, str], task: WritingTask | None = None) -> None:
        answers = [tab.post(at(name, here, task), data) for _ in range(3)]
        assert {(answer.status_code, answer["Location"]) for answer in answers} == {(302, answers[0]["Location"])}

    thrice("writing_start", {})
    [task] = WritingTask.objects.filter(participant=person)
    thrice("writing_entry", ENTRY, task)
    finish(task, now=timezone.now())
    thrice("writing_exit", EXIT, task)
    assert (Response.objects.count(), SurveyAnswers.objects.count()) == (1, 2)
    thrice("writing_start", {})
    second = holding.in_hand(person)
    thrice("writing_return", {"reason": "no time"}, second)
    thrice("writing_task", {"do": "resume"}, second)
    second.refresh_from_db()
    assert second.state == TaskState.CLAIMED
    moves = TaskTransition.objects.filter(task=second).order_by("pk").values_list("after", flat=True)
    assert list(moves) == ["CLAIMED", "RETURNED", "CLAIMED"]


def test_a_second_survey_does_not_overwrite_the_first(here: World, person: Participant, tab: Client) -> None:
    task = now_claimed(here, person)
    tab.post(at("writing_entry", here, task), ENTRY)
    tab.post(at("writing_entry", here, task), ENTRY | {"worker_knowledge": "5"})
    assert SurveyAnswers.objects.get().answers["worker_knowledge"] == 3


def test_missing_answers_are_pointed_out_and_the_others_stay(here: World, person: Participant, tab: Client) -> None:
    task = now_claimed(here, person)
    page = tab.post(at("writing_entry", here, task), {"worker_knowledge": "3", "query_answerable": "9"})
    shown = text_of(page)
    assert page.status_code == 200
    assert shown.count("Choose one.") >= 2
    assert "Choose one of the options." in shown
    assert 'value="3" ' in shown.replace("\n", " ")
    assert not SurveyAnswers.objects.exists()


def test_without_surveys_these_steps_are_passed_by(person: Participant, here: World, tab: Client) -> None:
    here.change(entry_survey=None, exit_survey=None)
    task = now_claimed(here, person)
    assert tab.get(at("writing_task", here, task))["Location"] == at("writing_editor", here, task)
    finish(task, now=timezone.now())
    tab.post(at("writing_exit", here, task), {})
    assert Response.objects.get().task == task


def test_back_from_the_questions_to_the_text(here: World, person: Participant, tab: Client) -> None:
    here.change(entry_survey=None)
    task = finish(now_claimed(here, person), now=timezone.now())
    tab.post(at("writing_exit", here, task), {"back": "1"})
    assert tab.get(at("writing_task", here, task))["Location"] == at("writing_editor", here, task)


def test_an_empty_text_leads_back_to_the_editor_with_what_to_do(here: World, person: Participant, tab: Client) -> None:
    here.change(entry_survey=None)
    task = finish(now_claimed(here, person), " ", now=timezone.now())
    answer = tab.post(at("writing_exit", here, task), EXIT, follow=True)
    assert answer.redirect_chain[-1][0] == at("writing_editor", here, task)
    assert not Response.objects.exists()
    assert not SurveyAnswers.objects.exists()
    task.refresh_from_db()
    assert task.finished_at is None


def test_nobody_sees_anothers_task(here: World, person: Participant) -> None:
    task = now_claimed(here, person)
    stranger = Client()
    as_participant(stranger, here.writer())
    names = ("writing_task", "writing_entry", "writing_exit", "writing_done", "writing_return")
    for name in names:
        assert stranger.get(at(name, here, task)).status_code == 404
        assert stranger.post(at(name, here, task), {"do": "resume"}).status_code == 404


def test_consent_comes_first(here: World) -> None:
    client = Client()
    as_participant(client, ParticipantFactory(study=here.study))
    for method in (client.get, client.post):
        assert reverse("work_consent", args=[here.study.slug]) in method(at("writing_start", here))["Location"]
    assert not WritingTask.objects.filter(participant__isnull=False).exists()


def test_what_was_begun_under_an_earlier_consent_text_is_finished(
    here: World, person: Participant, tab: Client
) -> None:
    here.change(entry_survey=None)
    task = finish(now_claimed(here, person), now=timezone.now())
    here.change(consent_text=ConsentTextFactory(study=here.study))
    tab.post(at("writing_exit", here, task), EXIT)
    assert Response.objects.get().task == task


def test_the_start_page_says_why_there_is_nothing(here: World, person: Participant, tab: Client) -> None:
    here.change(is_open=False)
    assert "asks for no responses at present" in text_of(tab.get(at("writing_start", here)))
    answer = tab.post(at("writing_start", here), follow=True)
    assert "asks for no responses at present" in text_of(answer)


def test_the_start_page_says_where_the_trial_stands() -> None:
    here = world(topics=1, trial=2)
    person = here.writer()
    client = Client()
    as_participant(client, person)
    assert "a trial of 2 responses" in text_of(client.get(at("writing_start", here)))
    tasks = [hand_in(here.claim(person)).task for _ in range(2)]
    assert "are being read" in text_of(client.get(at("writing_start", here)))
    reviewing.reject(task=tasks[0], reason="No.", by=here.reviewer(), now=NOW)
    assert "no further tasks for you here" in text_of(client.get(at("writing_start", here)))


def test_a_late_owner_is_told_what_can_be_done(here: World, person: Participant, tab: Client) -> None:
    task = now_claimed(here, person)
    tab.post(at("writing_entry", here, task), ENTRY)
    write(task, HOSTILE, now=timezone.now())
    late = timezone.now() + timedelta(days=2)
    leases.expire(now=late)
    for name in ("writing_entry", "writing_exit", "writing_done", "writing_return"):
        assert tab.get(at(name, here, task))["Location"] == at("writing_task", here, task), name
    page = text_of(tab.get(at("writing_task", here, task)))
    assert "Go on where I stopped" in page
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    for _ in range(3):
        here.claim(here.writer(), late)
    page = text_of(tab.get(at("writing_task", here, task)))
    assert "Submit what I have" in page
    answer = tab.post(at("writing_task", here, task), {"do": "resume"}, follow=True)
    assert "somebody else is writing it now" in text_of(answer)
    tab.post(at("writing_task", here, task), {"do": "hand_in"})
    assert Response.objects.get().text == HOSTILE
    assert tab.get(at("writing_task", here, task))["Location"] == at("writing_done", here, task)


def test_the_platform_gets_people_back(here: World, person: Participant, tab: Client) -> None:
    link = EntryLink.objects.create(
        study=here.study, purpose="writing", kind=EntryKind.PLATFORM, token="t", token_hash=b"t" * 32, created_at=NOW,
        platform="prolific", completion={"COMPLETED": "https://app.prolific.com/submissions/complete?cc=A"},
    )  # fmt: skip
    Arrival.objects.create(link=link, participant=person, arrived_at=NOW, last_at=NOW)
    task = now_claimed(here, person)
    tab.post(at("writing_entry", here, task), ENTRY)
    finish(task, now=timezone.now())
    tab.post(at("writing_exit", here, task), EXIT)
    page = text_of(tab.get(at("writing_done", here, task)))
    assert 'href="https://app.prolific.com/submissions/complete?cc=A"' in page
    assert "You are paid by Prolific." in page


def test_the_own_page_lists_what_became_of_each(here: World, person: Participant, tab: Client) -> None:
    here.change(entry_survey=None, exit_survey=None)
    reviewer = here.reviewer()
    first, second = hand_in(here.claim(person)).task, hand_in(here.claim(person)).task
    reviewing.accept(task=first, by=reviewer, now=NOW, note=f"Thanks {HOSTILE}")
    reviewing.reject(task=second, reason="No source.", pay_part=100, by=reviewer, now=NOW)
    page = text_of(tab.get(reverse("work", args=[here.study.slug])))
    assert "USD\u00a03.75" in page
    assert "No source." in page
    assert "Thanks &lt;script&gt;" in page
    assert f"?about={second.external_id}&amp;kind=CONTEST" in page


def test_who_revised_is_not_asked_again(here: World, person: Participant, tab: Client) -> None:
    here.change(entry_survey=None, exit_survey=None)
    old = hand_in(here.claim(person)).task
    fresh = reviewing.send_back(task=old, note="Cite more.", by=here.reviewer(), now=NOW)
    own = reverse("work", args=[here.study.slug])
    page = text_of(tab.get(own))
    assert "It was sent back to you to be revised." in page
    assert "Cite more." in page
    assert page.count("USD\u00a02.75") == 1, "the amount stands with the revision alone"
    hand_in(fresh)
    page = text_of(tab.get(own))
    assert f'You revised it; see <a href="{at("writing_task", here, fresh)}">' in page
    assert "to be revised" not in page
    assert here.study.payment in page, "no platform sent them"


def test_the_offer_says_what_it_is_before_anything_else(here: World) -> None:
    way = ways.get(here.study, "writing")
    offer = way.offer(here.study)
    assert (offer.pay, offer.minutes, offer.is_open) == (275, 25, True)
    assert "about 250 words" in offer.what
    WritingPlan.objects.update(is_open=False)
    assert not way.offer(here.study).is_open
    WritingPlan.objects.update(consent_text=None)
    assert way.offer(here.study) is None


def test_instructions_are_markdown_and_cannot_carry_script(here: World, tab: Client) -> None:
    text = "**Cite** <script>alert(1)</script> [x](javascript:alert(1))"
    asked = WritingInstructions.objects.create(study=here.study, name="bad", text=text, created_at=NOW)
    here.change(instructions=asked)
    page = text_of(tab.get(at("writing_start", here)))
    assert "<strong>Cite</strong>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page

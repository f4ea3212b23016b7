"""A writer's pages around the editor, and each POST sent again because its answer was lost."""

from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowdrag.studies import activities
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import Arrival, EntryLink, Participant
from tests.factories import NOW, ConsentTextFactory, ParticipantFactory
from tests.participants import as_participant
from tests.writing.open_plan import World, finish, hand_in, world, write
from writing.assignments import claims, leases, problems
from writing.enums import SurveyKind, TaskState
from writing.models import Response, SurveyAnswers, TaskTransition, WritingInstructions, WritingPlan, WritingTask
from writing.plans import surveys
from writing.review import services

pytestmark = pytest.mark.django_db
ENTRY = {"query_answerable": "1", "query_controversial": "0", "worker_knowledge": "3", "worker_expertise": "1"}
EXIT = {"worker_satisfaction": "1", "references_quality": "4", "references_extra": "2", "references_omission": "-1"}
HOSTILE = '<script>alert(1)</script>&"'
COMPLETION = "https://app.prolific.com/submissions/complete?cc=A"


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
    return claims.claim(study=here.study, participant=person, now=timezone.now())


def page_of(tab: Client, address: str) -> str:
    return tab.get(address).content.decode()


def test_from_the_start_to_the_last_page_with_every_post_sent_thrice(
    here: World, person: Participant, tab: Client
) -> None:
    """The answer was lost, so the browser or the person sends the same once more: one effect, the same answer."""

    def thrice(name: str, data: dict[str, str], task: WritingTask | None = None) -> str:
        answers = [tab.post(at(name, here, task), data) for _ in range(3)]
        assert {(answer.status_code, answer["Location"]) for answer in answers} == {(302, answers[0]["Location"])}
        return answers[0]["Location"]

    asked = WritingInstructions.objects.create(
        study=here.study, name="bad", created_at=NOW,
        text="**Cite** <script>alert(1)</script> [x](javascript:alert(1))",
    )  # fmt: skip
    here.change(instructions=asked)
    start = page_of(tab, at("writing_start", here))
    assert [each in start for each in ("2.75", "<strong>Cite</strong>")] == [True, True]
    assert [each in start for each in ("<script>alert", 'href="javascript')] == [False, False]
    step = thrice("writing_start", {})
    [task] = WritingTask.objects.filter(participant=person)
    assert step == at("writing_task", here, task)

    def leads_to(name: str) -> bool:
        return tab.get(step)["Location"] == at(name, here, task)

    assert leads_to("writing_entry")
    assert task.topic.query in page_of(tab, at("writing_entry", here, task))
    assert thrice("writing_entry", ENTRY, task) == step
    tab.post(at("writing_entry", here, task), ENTRY | {"worker_knowledge": "5"})
    assert SurveyAnswers.objects.get(task=task).answers == {name: int(value) for name, value in ENTRY.items()}
    assert leads_to("writing_editor")
    assert tab.get(at("writing_done", here, task))["Location"] == step, "not done yet"
    finish(task, "A claim [0].", now=timezone.now())
    tab.post(at("writing_exit", here, task), {"back": "1"})
    assert leads_to("writing_editor")
    finish(task, " More [1].", now=timezone.now())
    assert leads_to("writing_exit")
    assert "A claim [0]. More [1]." in page_of(tab, at("writing_exit", here, task))
    thrice("writing_exit", EXIT, task)
    assert leads_to("writing_done")
    assert f'action="{at("writing_start", here)}"' in page_of(tab, at("writing_done", here, task))
    assert Response.objects.get().text == "A claim [0]. More [1]."
    assert SurveyAnswers.objects.get(task=task, survey__kind=SurveyKind.EXIT).answers["references_omission"] == -1
    thrice("writing_start", {})
    second = leases.task_in_hand(person)
    thrice("writing_return", {"reason": "no time"}, second)
    thrice("writing_task", {"do": "resume"}, second)
    moves = TaskTransition.objects.filter(task=second).order_by("pk").values_list("after", flat=True)
    assert list(moves) == ["CLAIMED", "RETURNED", "CLAIMED"]


def test_missing_answers_are_pointed_out_and_the_others_stay(here: World, person: Participant, tab: Client) -> None:
    task = now_claimed(here, person)
    answer = tab.post(at("writing_entry", here, task), {"worker_knowledge": "3", "query_answerable": "9"})
    form = answer.context["form"]
    assert (answer.status_code, set(form.errors)) == (200, set(ENTRY) - {"worker_knowledge"})
    assert form["worker_knowledge"].value() == "3"
    assert not SurveyAnswers.objects.exists()


def test_without_surveys_these_steps_are_passed_by_under_whatever_consent_text(
    here: World, person: Participant, tab: Client
) -> None:
    here.change(entry_survey=None, exit_survey=None)
    task = now_claimed(here, person)
    assert tab.get(at("writing_task", here, task))["Location"] == at("writing_editor", here, task)
    finish(task, now=timezone.now())
    here.change(consent_text=ConsentTextFactory(study=here.study))  # what was begun under the earlier one is finished
    tab.post(at("writing_exit", here, task), {})
    assert Response.objects.get().task == task


def test_an_empty_text_leads_back_to_the_editor(here: World, person: Participant, tab: Client) -> None:
    here.change(entry_survey=None)
    task = finish(now_claimed(here, person), " ", now=timezone.now())
    answer = tab.post(at("writing_exit", here, task), EXIT, follow=True)
    assert answer.redirect_chain[-1][0] == at("writing_editor", here, task)
    task.refresh_from_db()
    assert (Response.objects.count(), SurveyAnswers.objects.count(), task.finished_at) == (0, 0, None)


def test_nobody_sees_anothers_task_and_consent_comes_first(here: World, person: Participant) -> None:
    task = now_claimed(here, person)
    stranger, newcomer = Client(), Client()
    as_participant(stranger, here.writer())
    as_participant(newcomer, ParticipantFactory(study=here.study))
    for name in ("writing_task", "writing_entry", "writing_exit", "writing_done", "writing_return"):
        assert stranger.get(at(name, here, task)).status_code == 404
        assert stranger.post(at(name, here, task), {"do": "resume"}).status_code == 404
    for method in (newcomer.get, newcomer.post):
        assert reverse("participant_consent", args=[here.study.slug]) in method(at("writing_start", here))["Location"]
    assert WritingTask.objects.filter(participant__isnull=False).count() == 1


def test_the_start_page_knows_why_there_is_nothing_and_where_the_trial_stands() -> None:
    here = world(topics=1, trial=2)
    person, client = here.writer(), Client()
    as_participant(client, person)

    def shown() -> tuple[Any, Any]:
        context = client.get(at("writing_start", here)).context
        return context["overview"].trial.stage, type(context["obstacle"])

    assert shown() == (claims.TrialStage.WRITING, type(None))
    tasks = [hand_in(here.claim(person)).task for _ in range(2)]
    assert shown()[1] is problems.TrialWaits
    services.reject(task=tasks[0], reason="No.", by=here.reviewer(), now=NOW)
    assert shown()[1] is problems.TrialEnded
    here.change(is_open=False)
    assert shown()[1] is problems.WritingClosed
    assert client.post(at("writing_start", here), follow=True).status_code == 200
    assert leases.task_in_hand(person) is None


def test_a_late_owner_can_go_on_or_hand_in_what_is_kept(here: World, person: Participant, tab: Client) -> None:
    task = now_claimed(here, person)
    tab.post(at("writing_entry", here, task), ENTRY)
    write(task, HOSTILE, now=timezone.now())
    late = timezone.now() + timedelta(days=2)
    leases.expire(now=late)
    step = at("writing_task", here, task)
    for name in ("writing_entry", "writing_exit", "writing_done", "writing_return"):
        assert tab.get(at(name, here, task))["Location"] == step, name
    page = page_of(tab, step)
    assert ['value="resume"' in page, "&lt;script&gt;" in page, "<script>alert" in page] == [True, True, False]
    for _ in range(3):
        here.claim(here.writer(), late)
    page = page_of(tab, step)
    assert ['value="resume"' in page, 'value="hand_in"' in page] == [False, True]
    tab.post(step, {"do": "resume"}, follow=True)
    assert WritingTask.objects.get(pk=task.pk).state == TaskState.RETURNED
    tab.post(step, {"do": "hand_in"})
    assert Response.objects.get().text == HOSTILE
    assert tab.get(step)["Location"] == at("writing_done", here, task)


def test_whoever_came_from_a_platform_gets_the_way_back(here: World, person: Participant, tab: Client) -> None:
    here.change(entry_survey=None, exit_survey=None)
    task = hand_in(now_claimed(here, person), now=timezone.now()).task
    assert here.study.payment in page_of(tab, at("writing_done", here, task)), "no platform sent them"
    link = EntryLink.objects.create(
        study=here.study, purpose="writing", kind=EntryKind.PLATFORM, token="t", token_hash=b"t" * 32, created_at=NOW,
        platform="prolific", completion={"COMPLETED": COMPLETION},
    )  # fmt: skip
    Arrival.objects.create(link=link, participant=person, arrived_at=NOW, last_at=NOW)
    page = page_of(tab, at("writing_done", here, task))
    assert f'href="{COMPLETION}"' in page
    assert here.study.payment not in page


@pytest.mark.extended
def test_the_own_page_lists_what_became_of_each(here: World, person: Participant, tab: Client) -> None:
    here.change(entry_survey=None, exit_survey=None)
    reviewer, own = here.reviewer(), reverse("participant_dashboard", args=[here.study.slug])
    accepted, rejected, old = (hand_in(here.claim(person)).task for _ in range(3))
    services.accept(task=accepted, by=reviewer, now=NOW, note=f"Thanks {HOSTILE}")
    services.reject(task=rejected, reason="No source.", pay_part=100, by=reviewer, now=NOW)
    fresh = services.send_back(task=old, note="Cite more.", by=reviewer, now=NOW)
    page = page_of(tab, own)
    for shown in ("3.75", "No source.", "Thanks &lt;script&gt;", "Cite more."):
        assert shown in page, shown
    assert f"?about={rejected.external_id}&amp;kind=CONTEST" in page
    assert str(TaskState.REVISION.label) in page, "a revision is not merely in progress"
    hand_in(fresh)
    for seen in (page, page_of(tab, own)):
        assert seen.count("Cite more.") == 1
        assert f'<a href="{at("writing_task", here, fresh)}"' in seen
        assert f'<a href="{at("writing_task", here, old)}"' not in seen


def test_the_offer_holds_what_the_plan_asks_and_pays(here: World) -> None:
    way = activities.get(here.study, "writing")
    offer = way.offer(here.study)
    assert (offer.pay, offer.minutes, offer.is_open) == (275, 25, True)
    assert "250" in offer.what
    WritingPlan.objects.update(is_open=False)
    assert not way.offer(here.study).is_open
    WritingPlan.objects.update(consent_text=None)
    assert way.offer(here.study) is None

"""Pages of the writing plan and of progress: each form takes what fits and refuses what does not."""

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import (
    NOW,
    MembershipFactory,
    ParticipantFactory,
    RetrievedPassageFactory,
    StudyFactory,
    TopicFactory,
    WritingTaskFactory,
)
from writing.enums import TaskState
from writing.models import TaskPayment, WritingPlan
from writing.plans import forms as table
from writing.plans import services

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    study = StudyFactory(currency="JPY")
    RetrievedPassageFactory(topic=TopicFactory(study=study, external_id="t1"))
    return study


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


@pytest.fixture
def plan(study: Study) -> WritingPlan:
    return services.ensure_plan(study, NOW)


@pytest.fixture
def client(study: Study) -> Client:
    return signed_in(study, Role.EDITOR)


def signed_in(study: Study, role: Role) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def url(name: str, study: Study, *rest: object) -> str:
    return reverse(name, args=[study.slug, *rest])


def given(**changes: object) -> dict[str, object]:
    fields = {
        "styles": ["bullet"], "slots": 2, "tasks_per_person": "", "minutes": 20, "lease_hours": 24, "trial_topics": "",
        "pay": "600", "fee": "60", "tax": "0", "wage_floor": "1500",
    }  # fmt: skip
    return fields | changes


def test_a_plan_is_made_changed_opened_and_closed(study: Study, client: Client) -> None:
    page, opening = url("writing_plan", study), url("writing_plan_state", study)
    assert client.get(page).status_code == 200
    assert not WritingPlan.objects.exists()  # looking at it makes nothing
    assert client.post(page).status_code == 302
    client.post(opening, {"do": "open"})
    assert not WritingPlan.objects.get().is_open  # it pays nothing yet
    assert client.post(page, given()).status_code == 302
    plan = WritingPlan.objects.get()
    # A currency without a minor unit: what is written is what is kept.
    assert (plan.pay, plan.fee, plan.wage_floor, plan.tasks_per_person) == (600, 60, 1500, None)
    text = client.get(page).content.decode()
    assert "JPY\u00a0660" in text
    assert "JPY\u00a01,800" in text  # the wage
    for do, is_open in (("open", True), ("close", False)):
        client.post(opening, {"do": do})
        assert (WritingPlan.objects.get().is_open, study.writing_tasks.count()) == (is_open, 2)


WRONG: list[dict[str, object]] = [
    {"pay": "2.50"}, {"pay": "-1"}, {"pay": "9" * 12}, {"pay": ""}, {"slots": "0"}, {"styles": ["haiku"]},
    {"styles": []}, {"trial_topics": "t1 t7"}, {"minutes": "\x00"},
]  # fmt: skip


def test_what_is_wrong_is_said_at_its_field_and_nothing_changes(
    study: Study, client: Client, plan: WritingPlan
) -> None:
    before = WritingPlan.objects.filter(pk=plan.pk).values().get()
    refusals = []
    for changes in WRONG:
        response = client.post(url("writing_plan", study), given(**changes))
        fields = list(response.context["form"].errors) if response.status_code == 422 else []
        refusals.append((response.status_code, fields, WritingPlan.objects.values().get() == before))
    assert refusals == [(422, list(changes), True) for changes in WRONG]


@pytest.mark.parametrize(
    ("name", "fields", "field"),
    [
        ("writing_plan_instructions", {"text": "**Write** <script>x</script>"}, "instructions"),
        ("writing_plan_consent", {"text": "Agree", "text_licence": "CC0-1.0"}, "consent_text"),
    ],
)
def test_texts_are_previewed_refused_and_saved(
    study: Study, client: Client, plan: WritingPlan, name: str, fields: dict, field: str
) -> None:
    for sent, status, version in (
        (fields | {"preview": "1"}, 200, 1),
        (fields | {"text": " "}, 422, 1),
        (fields, 302, 2),
    ):
        answer = client.post(url(name, study), sent)
        assert (answer.status_code, getattr(WritingPlan.objects.get(), field).version) == (status, version)
        assert "<script>x" not in answer.content.decode()


def test_a_style_of_ones_own(study: Study, client: Client, plan: WritingPlan) -> None:
    fields = {"label": "Haiku", "name": "haiku", "target_words": 17, "instructions": "5-7-5"}
    assert client.post(url("writing_plan_style_new", study), fields | {"name": "Not this!"}).status_code == 422
    assert client.post(url("writing_plan_style_new", study), fields).status_code == 302
    again = client.post(url("writing_plan_style", study, "haiku"), fields | {"instructions": "other", "name": "x"})
    assert again.status_code == 302
    asked = WritingPlan.objects.get().styles.get(name="haiku")
    assert (asked.version, asked.instructions) == (2, "other")
    assert client.get(url("writing_plan_style", study, "nosuch")).status_code == 404


def row(key: str, **fields: str) -> dict[str, str]:
    return {f"{name}-{key}": value for name, value in ({"kind": "choice", "required": "on"} | fields).items()}


def test_questions_move_come_and_go_and_nothing_is_saved_before_one_says_so(
    study: Study, client: Client, plan: WritingPlan
) -> None:
    page = url("writing_plan_questions", study, "exit")
    two = {"row": ["q0", "q1"], **row("q0", text="Why?", kind="text"), **row("q1", text="Hard?", options="yes\nno")}

    def shown(do: str) -> str:
        return client.post(page, two | {"do": do}, HTTP_HX_REQUEST="true").content.decode()

    moved = shown("down:q0")
    assert moved.index("Hard?") < moved.index("Why?")
    assert "<html" not in moved
    assert 'id="text-q2"' in shown("add")
    assert "Why?" not in shown("remove:q0")
    assert plan.exit_survey.questions[0]["text"] in shown("usual")
    plan.refresh_from_db()
    assert plan.exit_survey.version == 1
    saved = client.post(page, two | {"do": "save"}, HTTP_HX_REQUEST="true")
    assert saved.headers["HX-Redirect"] == url("writing_plan", study)
    plan.refresh_from_db()
    assert plan.exit_survey.questions == [
        {"name": "why", "text": "Why?", "kind": "text", "options": [], "required": True},
        {
            "name": "hard", "text": "Hard?", "kind": "choice", "required": True,
            "options": [{"value": 1, "label": "yes"}, {"value": 2, "label": "no"}],
        },
    ]  # fmt: skip


def test_the_usual_questions_are_edited_without_loss(plan: WritingPlan) -> None:
    assert table.questions(table.rows_of(plan.entry_survey.questions)) == plan.entry_survey.questions


def test_questions_that_cannot_be_asked(study: Study, client: Client, plan: WritingPlan) -> None:
    page = url("writing_plan_questions", study, "exit")
    for fields in (
        row("q0", text="", options="a\nb"),
        row("q0", text="One?", options="only"),
        row("q0", text="One?", kind="scale", options="a = x\nb = y"),
        row("q0", text="One?", kind="other", options="a\nb"),
        row("q0", text="One?", name="No!", options="a\nb"),
    ):
        assert client.post(page, {"row": ["q0"], "do": "save", **fields}).status_code == 422, fields
        assert WritingPlan.objects.get().exit_survey.version == 1
    for kind in ("nosuch", "ENTRY"):
        assert client.get(url("writing_plan_questions", study, kind)).status_code == 404


def test_the_preview_shows_all_that_a_writer_is_asked(study: Study, plan: WritingPlan) -> None:
    text = signed_in(study, Role.VIEWER).get(url("writing_plan_preview", study)).content.decode()
    for question in (*plan.entry_survey.questions, *plan.exit_survey.questions):
        assert question["text"] in text


def test_whoever_earned_too_little_is_topped_up_once_by_editors(
    study: Study, client: Client, plan: WritingPlan
) -> None:
    WritingPlan.objects.update(wage_floor=1200, pay=500)
    task = WritingTaskFactory(
        topic=study.topics.get(), style=plan.styles.first(), state=TaskState.ACCEPTED, pay=500, active_seconds=3600,
        participant=ParticipantFactory(study=study),
    )  # fmt: skip
    TaskPayment.objects.create(task=task, amount=500, reason="accepted", at=NOW)
    page, top_up = url("writing_progress", study), url("writing_top_up", study, task.participant.pk)
    viewed, edited = (one.get(page).content.decode() for one in (signed_in(study, Role.VIEWER), client))
    assert [top_up in viewed, top_up in edited, "JPY\u00a0700" in edited] == [False, True, True]
    for _ in range(2):
        client.post(top_up)
        assert sum(task.payments.values_list("amount", flat=True)) == 1200
    assert client.post(url("writing_top_up", study, ParticipantFactory().pk)).status_code == 404


def test_tables_are_downloaded(study: Study) -> None:
    client = signed_in(study, Role.VIEWER)
    response = client.get(url("writing_table", study, "styles"))
    assert response.headers["Content-Type"].startswith("text/csv")
    assert response.headers["Content-Disposition"].endswith('-writing-styles.csv"')
    assert client.get(url("writing_table", study, "nosuch")).status_code == 404

"""Pages of the writing plan and of progress: what they change, what they refuse, and what they say."""

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
from writing.domain import plans
from writing.enums import TaskState
from writing.models import TaskPayment, WritingPlan

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    study = StudyFactory(currency="JPY")
    RetrievedPassageFactory(topic=TopicFactory(study=study, external_id="t1"))
    return study


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


def signed_in(study: Study, role: Role = Role.EDITOR) -> Client:
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


def test_a_plan_is_made_changed_opened_and_closed(study: Study) -> None:
    client = signed_in(study)
    page = url("writing_plan", study)
    assert "Make a plan" in client.get(page).content.decode()
    assert not WritingPlan.objects.exists()  # looking at it makes nothing
    assert client.post(page).status_code == 302
    assert client.post(page, given()).status_code == 302
    plan = WritingPlan.objects.get()
    # A currency without a minor unit: what is written is what is kept.
    assert (plan.pay, plan.fee, plan.wage_floor, plan.tasks_per_person) == (600, 60, 1500, None)
    text = client.get(page).content.decode()
    assert "JPY\u00a0660" in text
    assert "JPY\u00a01,800" in text  # the wage
    opening = url("writing_plan_opening", study)
    client.post(opening, {"do": "open"})
    plan.refresh_from_db()
    assert plan.is_open
    assert study.writing_tasks.count() == 2
    client.post(opening, {"do": "close"})
    plan.refresh_from_db()
    assert not plan.is_open


WRONG: list[dict[str, object]] = [
    {"pay": "2.50"}, {"pay": "-1"}, {"pay": "9" * 12}, {"pay": ""}, {"slots": "0"}, {"styles": ["haiku"]},
    {"styles": []}, {"trial_topics": "t1 t7"}, {"minutes": "\x00"},
]  # fmt: skip


def test_what_is_wrong_is_said_at_its_field_and_nothing_changes(study: Study) -> None:
    client = signed_in(study)
    before = WritingPlan.objects.filter(pk=plans.ensure(study, NOW).pk).values().get()
    found = []
    for changes in WRONG:
        response = client.post(url("writing_plan", study), given(**changes))
        fields = list(response.context["form"].errors) if response.status_code == 422 else []
        found.append((response.status_code, fields, WritingPlan.objects.values().get() == before))
    assert found == [(422, list(changes), True) for changes in WRONG]


def test_a_plan_that_lacks_something_says_what_and_stays_closed(study: Study) -> None:
    client = signed_in(study)
    plans.ensure(study, NOW)
    response = client.post(url("writing_plan_opening", study), {"do": "open"}, follow=True)
    assert "Say what a response pays." in response.content.decode()
    assert not WritingPlan.objects.get().is_open


@pytest.mark.parametrize(
    ("name", "rest", "fields", "field"),
    [
        ("writing_plan_instructions", [], {"text": "**Write** <script>x</script>"}, "instructions"),
        ("writing_plan_consent", [], {"text": "Agree", "text_licence": "CC0-1.0"}, "consent_text"),
    ],
)
def test_texts_are_previewed_saved_and_refused(study: Study, name: str, rest: list, fields: dict, field: str) -> None:
    client = signed_in(study)
    plans.ensure(study, NOW)
    page = url(name, study, *rest)
    shown = client.post(page, fields | {"preview": "1"})
    assert shown.status_code == 200
    assert "<script>x" not in shown.content.decode()
    assert getattr(WritingPlan.objects.get(), field).version == 1
    assert client.post(page, fields | {"text": " "}).status_code == 422
    assert client.post(page, fields).status_code == 302
    assert getattr(WritingPlan.objects.get(), field).version == 2


def test_a_style_of_ones_own(study: Study) -> None:
    client = signed_in(study)
    plans.ensure(study, NOW)
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


def test_questions_move_come_and_go_and_nothing_is_saved_before_one_says_so(study: Study) -> None:
    client = signed_in(study)
    plan = plans.ensure(study, NOW)
    page = url("writing_plan_questions", study, "exit")
    two = {"row": ["q0", "q1"], **row("q0", text="Why?", kind="text"), **row("q1", text="Hard?", options="yes\nno")}
    moved = client.post(page, two | {"do": "down:q0"}, HTTP_HX_REQUEST="true").content.decode()
    assert moved.index("Hard?") < moved.index("Why?")
    assert "<html" not in moved
    assert 'id="text-q2"' in client.post(page, two | {"do": "add"}).content.decode()
    removed = client.post(page, two | {"do": "remove:q0"}).content.decode()
    assert "Why?" not in removed
    assert "Are you satisfied" in client.post(page, two | {"do": "usual"}).content.decode()
    plan.refresh_from_db()
    assert plan.exit_survey.version == 1
    assert client.post(page, two | {"do": "save"}).status_code == 302
    plan.refresh_from_db()
    assert plan.exit_survey.questions == [
        {"name": "why", "text": "Why?", "kind": "text", "options": [], "required": True},
        {
            "name": "hard", "text": "Hard?", "kind": "choice", "required": True,
            "options": [{"value": 1, "label": "yes"}, {"value": 2, "label": "no"}],
        },
    ]  # fmt: skip
    saved = client.post(page, two | {"do": "save"}, HTTP_HX_REQUEST="true")
    assert saved.headers["HX-Redirect"] == url("writing_plan", study)


def test_the_usual_questions_are_edited_without_loss(study: Study) -> None:
    client = signed_in(study)
    plan = plans.ensure(study, NOW)
    page = url("writing_plan_questions", study, "entry")
    client.post(page, {"do": "usual"})
    from writing.forms import questions as table

    rows = table.rows_of(plan.entry_survey.questions)
    assert table.questions(rows) == plan.entry_survey.questions
    for kind in ("nosuch", "ENTRY"):
        assert client.get(url("writing_plan_questions", study, kind)).status_code == 404


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (row("q0", text="", options="a\nb"), "missing"),
        (row("q0", text="One?", options="only"), "2 to"),
        (row("q0", text="One?", kind="scale", options="a = x\nb = y"), "whole numbers"),
        (row("q0", text="One?", kind="other", options="a\nb"), "kind"),
        (row("q0", text="One?", name="No!", options="a\nb"), "small letters"),
    ],
)
def test_questions_that_cannot_be_asked(study: Study, fields: dict, said: str) -> None:
    client = signed_in(study)
    plans.ensure(study, NOW)
    sent = {"row": ["q0"], "do": "save", **fields}
    response = client.post(url("writing_plan_questions", study, "exit"), sent)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert WritingPlan.objects.get().exit_survey.version == 1


def test_the_preview_shows_all_that_a_writer_is_told_and_asked(study: Study) -> None:
    plan = plans.ensure(study, NOW)
    text = signed_in(study, Role.VIEWER).get(url("writing_plan_preview", study)).content.decode()
    for question in (*plan.entry_survey.questions, *plan.exit_survey.questions):
        assert question["text"] in text
    assert "Key timing" in text
    assert "language model" in text


def test_progress_shows_who_earns_too_little_and_tops_up(study: Study) -> None:
    plan = plans.ensure(study, NOW)
    WritingPlan.objects.update(wage_floor=1200, pay=500)
    writer = ParticipantFactory(study=study, external_id="writer-x")
    task = WritingTaskFactory(
        topic=study.topics.get(), style=plan.styles.first(), state=TaskState.ACCEPTED, participant=writer, pay=500,
        active_seconds=3600,
    )  # fmt: skip
    TaskPayment.objects.create(task=task, amount=500, reason="accepted", at=NOW)
    page = url("writing_progress", study)
    assert "Top up by" not in signed_in(study, Role.VIEWER).get(page).content.decode()
    client = signed_in(study)
    assert "Top up by JPY\u00a0700" in client.get(page).content.decode()
    top_up = url("writing_top_up", study, writer.pk)
    assert "is owed JPY\u00a0700 more" in client.post(top_up, follow=True).content.decode()
    assert "Nothing is owed" in client.post(top_up, follow=True).content.decode()
    assert sum(task.payments.values_list("amount", flat=True)) == 1200
    elsewhere = ParticipantFactory()
    assert client.post(url("writing_top_up", study, elsewhere.pk)).status_code == 404


def test_tables_are_downloaded(study: Study) -> None:
    client = signed_in(study, Role.VIEWER)
    response = client.get(url("writing_table", study, "styles"))
    assert response.headers["Content-Type"].startswith("text/csv")
    assert response.headers["Content-Disposition"].endswith('-writing-styles.csv"')
    assert client.get(url("writing_table", study, "nosuch")).status_code == 404


def test_the_home_shows_how_far_it_is(study: Study) -> None:
    client = signed_in(study, Role.VIEWER)
    home = reverse("study", args=[study.slug])
    assert "there is no plan" in client.get(home).content.decode()
    plans.ensure(study, NOW)
    assert "To be reviewed" in client.get(home).content.decode()

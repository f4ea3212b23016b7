"""A writing plan: made with defaults, changed as a whole or not at all, opened when nothing is missing."""

from copy import deepcopy
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crowdrag.studies.models import ConsentText, Study
from tests.factories import NOW, RetrievedPassageFactory, StudyFactory, StyleFactory, TopicFactory, WritingTaskFactory
from writing.editor import events
from writing.enums import SurveyKind, TaskState
from writing.models import Style, Survey, WritingInstructions, WritingPlan, WritingTask
from writing.plans import default_texts, services, surveys

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    study = StudyFactory(currency="EUR", text_licence="CC0-1.0")
    for name in ("t1", "t2"):
        RetrievedPassageFactory(topic=TopicFactory(study=study, external_id=name))
    return study


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


def terms(**changes: object) -> dict[str, object]:
    return {
        "slots": 2, "pay": 500, "fee": 50, "tax": 9, "wage_floor": 1200, "minutes": 25, "lease_hours": 24,
        "tasks_per_person": None,
    } | changes  # fmt: skip


def change(plan: WritingPlan, **changes: object) -> WritingPlan:
    styles = changes.pop("styles", ["bullet", "essay"])
    trial = changes.pop("trial", [])
    return services.change_terms(plan=plan, terms=terms(**changes), style_names=styles, trial_topics=trial, now=LATER)  # type: ignore[arg-type]


def state(study: Study) -> list[object]:
    plan = WritingPlan.objects.filter(study=study).values().get()
    styles = list(plan_styles(study))
    tables = (Style, Survey, ConsentText, WritingInstructions, WritingTask)
    return [plan, styles, [table.objects.filter(study=study).count() for table in tables]]


def plan_styles(study: Study) -> list[tuple[str, int]]:
    rows = study.writing_plan.plan_styles.order_by("position")
    return list(rows.values_list("style__name", "style__version"))


def test_a_plan_begins_closed_with_everything_that_people_are_told_and_asked(study: Study) -> None:
    plan = services.ensure_plan(study, NOW)
    assert not plan.is_open
    assert plan_styles(study) == [("bullet", 1), ("essay", 1), ("news", 1)]
    assert plan.entry_survey.questions == surveys.defaults(plan.study, SurveyKind.ENTRY)
    assert plan.exit_survey.kind == SurveyKind.EXIT
    assert plan.instructions.text
    assert (plan.consent_text.text_licence, plan.consent_text.log_licence) == ("CC0-1.0", "CC0-1.0")
    before = state(study)
    assert services.ensure_plan(study, LATER) == plan
    assert state(study) == before


def test_the_consent_text_names_all_that_is_recorded_and_the_licence(study: Study) -> None:
    text = default_texts.consent(study)
    for each in events.EVENT_KINDS:
        assert each.meaning in text
    assert "CC0-1.0" in text
    assert "{" not in text


def test_a_change_holds_and_its_cost_is_reckoned(study: Study) -> None:
    plan = change(services.ensure_plan(study, NOW), tasks_per_person=3)
    assert (plan.pay, plan.tasks_per_person, plan.updated_at) == (500, 3, LATER)
    assert plan_styles(study) == [("bullet", 1), ("essay", 1)]
    costs = services.costs(plan)
    # 2 topics x 2 styles x 2 slots, at 5.00 + 0.50 + 0.09
    assert (costs.responses, costs.each, costs.total) == (8, 559, 4472)
    assert costs.hours == pytest.approx(8 * 25 / 60)
    assert services.promised_wage(plan) == 1200


def test_a_bad_change_changes_nothing_and_names_its_field(study: Study) -> None:
    plan = services.ensure_plan(study, NOW)
    TopicFactory(study=study, external_id="bare")
    before = state(study)
    for changes, field in (
        ({"styles": ["bullet", "haiku"]}, "styles"),
        ({"trial": ["t1", "t9"]}, "trial_topics"),
        ({"trial": ["bare"]}, "trial_topics"),
        ({"slots": 0}, "slots"),
        ({"pay": -1}, "pay"),
        ({"pay": 2**31}, "pay"),
        ({"minutes": 0}, "minutes"),
        ({"minutes": 40000}, "minutes"),
        ({"lease_hours": 0}, "lease_hours"),
        ({"tasks_per_person": 0}, "tasks_per_person"),
    ):
        with pytest.raises(services.BadPlan) as caught:
            change(plan, **changes)
        assert (list(caught.value.problems), state(study)) == ([field], before), changes


def test_a_text_that_changed_is_a_new_version_and_the_same_again_is_not(study: Study) -> None:
    plan = services.ensure_plan(study, NOW)
    plan = services.change_instructions(plan=plan, text="Write.\r\nCite.\0", now=LATER)
    assert (plan.instructions.version, plan.instructions.text) == (2, "Write.\nCite.")
    plan = services.change_instructions(plan=plan, text="Write.\nCite.", now=LATER)
    assert plan.instructions.version == 2
    licences = {"text_licence": "CC-BY-4.0", "log_licence": "", "timing_licence": ""}
    plan = services.change_consent(plan=plan, text="Agree?", now=LATER, **licences)
    assert (plan.consent_text.version, plan.consent_text.log_licence) == (2, "")
    with pytest.raises(services.BadPlan):
        services.change_consent(plan=plan, text=" ", now=LATER, **licences | {"text_licence": ""})
    assert WritingInstructions.objects.filter(study=study).count() == 2


def test_questions_change_by_version_and_may_be_none(study: Study) -> None:
    plan = services.ensure_plan(study, NOW)
    asked = [{"name": "why", "text": "Why?", "kind": "text", "options": [], "required": False}]
    plan = services.change_survey(plan=plan, kind=SurveyKind.EXIT, questions=asked, now=LATER)
    assert (plan.exit_survey.version, plan.exit_survey.questions) == (2, asked)
    with pytest.raises(surveys.BadSurvey):
        services.change_survey(plan=plan, kind=SurveyKind.EXIT, questions=[{"name": "x"}], now=LATER)
    plan = services.change_survey(plan=plan, kind=SurveyKind.ENTRY, questions=[], now=LATER)
    plan.refresh_from_db()
    assert plan.entry_survey is None
    assert plan.exit_survey.version == 2


def test_a_style_of_ones_own_and_another_wording_of_it(study: Study) -> None:
    plan = services.ensure_plan(study, NOW)
    given = {"name": "haiku", "label": "Haiku", "instructions": "5-7-5.", "target_words": 17}
    services.add_style(plan=plan, now=LATER, **given)
    services.add_style(plan=plan, now=LATER, **given | {"instructions": "Five, seven, five."})
    assert plan_styles(study)[-1] == ("haiku", 2)
    change(plan, styles=["haiku"])
    assert plan_styles(study) == [("haiku", 2)]
    for wrong in ({"name": "Hai ku"}, {"label": ""}, {"instructions": " "}, {"target_words": 0}):
        with pytest.raises(services.BadPlan) as caught:
            services.add_style(plan=plan, now=LATER, **given | wrong)
        assert list(caught.value.problems) == list(wrong)


def test_a_version_that_the_plan_asks_for_stays_until_it_is_changed_on_purpose(study: Study) -> None:
    plan = change(services.ensure_plan(study, NOW), styles=["essay"])
    StyleFactory(study=study, name="essay", version=2)
    change(plan, styles=["essay"])
    assert plan_styles(study) == [("essay", 1)]


def test_opening_makes_the_slots_and_closing_keeps_them(study: Study) -> None:
    plan = change(services.ensure_plan(study, NOW), trial=["t2"])
    assert not WritingTask.objects.exists()
    plan = services.open_plan(plan=plan, now=LATER)
    assert plan.is_open
    assert WritingTask.objects.filter(study=study, state=TaskState.OPEN).count() == 4  # t1 in two styles, twice
    services.open_plan(plan=plan, now=LATER)
    assert WritingTask.objects.count() == 4
    change(plan, slots=3)
    assert WritingTask.objects.count() == 12  # no trial any more: 2 topics, 2 styles, 3 slots
    assert not services.close_plan(plan=plan, now=LATER).is_open
    assert WritingTask.objects.count() == 12


def test_an_open_plan_cannot_lose_what_it_needs(study: Study) -> None:
    plan = services.open_plan(plan=change(services.ensure_plan(study, NOW)), now=LATER)
    for wrong, field in (({"styles": []}, "styles"), ({"pay": 0}, "pay")):
        with pytest.raises(services.BadPlan) as caught:
            change(plan, **wrong)
        assert list(caught.value.problems) == [field]
    change(services.close_plan(plan=plan, now=LATER), styles=[], pay=0)


def test_what_is_missing_keeps_a_plan_closed() -> None:
    study = StudyFactory()
    plan = change(services.ensure_plan(study, NOW), styles=[], pay=0)
    WritingPlan.objects.update(instructions=None, consent_text=None)
    with pytest.raises(services.NotReady) as caught:
        services.open_plan(plan=plan, now=LATER)
    assert len(caught.value.problems) == 5  # topics, styles, pay, instructions, consent
    plan.refresh_from_db()
    assert not plan.is_open


def test_topics_without_passages() -> None:
    study = StudyFactory()
    plan = change(services.ensure_plan(study, NOW))
    TopicFactory(study=study)
    assert len(services.readiness(plan).problems) == 1
    RetrievedPassageFactory(topic=TopicFactory(study=study))
    ready = services.readiness(plan)
    assert (ready.is_ready, len(ready.warnings)) == (True, 1)


@pytest.mark.parametrize(("floor", "warned"), [(1200, False), (1201, True), (None, True)])
def test_a_wage_below_the_floor_is_told(study: Study, floor: int | None, warned: bool) -> None:
    plan = change(services.ensure_plan(study, NOW), wage_floor=floor)
    assert bool(services.readiness(plan).warnings) is warned


def test_the_sums_of_a_large_plan_take_no_more_queries(study: Study) -> None:
    plan = change(services.ensure_plan(study, NOW))
    services.readiness(plan)  # reads the study along

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            services.costs(plan)
            services.readiness(plan)
        return len(asked)

    few = queries()
    for topic in TopicFactory.create_batch(30, study=study):
        WritingTaskFactory(topic=topic)
    assert queries() == few

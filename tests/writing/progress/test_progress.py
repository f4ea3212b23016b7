"""How far the writing is: by hand-made tasks whose sums are known."""

import re
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import Arrival, Consent, EntryLink, Participant, Study
from tests.factories import (
    NOW,
    ConsentTextFactory,
    ParticipantFactory,
    ResponseFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
    UserFactory,
    WritingPlanFactory,
    WritingTaskFactory,
)
from writing.assignments.lifecycle import TASKS
from writing.editor import codec, logs
from writing.enums import LogSource, SurveyKind, TaskState
from writing.models import PlanStyle, SurveyAnswers, TaskPayment, WritingPlan, WritingTask
from writing.plans import services, surveys
from writing.progress import overview as progress_overview
from writing.progress import queries as progress_queries
from writing.progress import wages
from writing.progress.overview import TABLES, UnknownTable

pytestmark = pytest.mark.django_db
HOUR = 3600


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    """A plan for two topics in one style, one slot, 10.00 each with 1.00 fee and 0.50 tax; 12.00 an hour at least."""
    study = StudyFactory(currency="EUR")
    plan = WritingPlanFactory(study=study, pay=1000, fee=100, tax=50, wage_floor=1200)
    PlanStyle.objects.create(plan=plan, style=StyleFactory(study=study, name="essay", label="Essay"))
    TopicFactory.create_batch(2, study=study)
    return study


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


def task(study: Study, state: str, *, minutes: float | None = None, paid: int = 0, **fields: Any) -> WritingTask:
    style = fields.pop("style", None) or study.writing_plan.styles.get()
    given = {"pay": 1000, "active_seconds": None if minutes is None else minutes * 60, "is_imported": False} | fields
    if state != TaskState.OPEN:
        given.setdefault("participant", ParticipantFactory(study=study))
    if state == TaskState.CLAIMED:
        given["lease_until"] = NOW + timedelta(days=1)
    topic = given.pop("topic", None) or TopicFactory(study=study, external_id=f"more-{WritingTask.objects.count()}")
    made = WritingTaskFactory(topic=topic, style=style, state=state, **given)
    if paid:
        TaskPayment.objects.create(task=made, amount=paid, reason="accepted", at=NOW)
    return made


def test_where_tasks_stand_by_style(study: Study) -> None:
    for state in TaskState.values:
        task(study, state)
    task(study, TaskState.ACCEPTED, is_trial=True)
    first, second = (StyleFactory(study=study, name="old", version=n, label=f"Old {n}") for n in (1, 2))
    task(study, TaskState.ACCEPTED, style=first, is_trial=True)
    task(study, TaskState.ACCEPTED, style=second)
    task(study, TaskState.ACCEPTED, style=StyleFactory(study=study, name="essay", version=2))
    overview = progress_overview.overview(study)
    essay, old = overview.styles
    assert essay.counts == dict.fromkeys(TaskState.values, 1) | {TaskState.ACCEPTED: 2}, "its versions are one style"
    # The topics of the tasks are asked for as well: 2 and one a task.
    assert (essay.label, essay.planned, essay.done, essay.missing) == ("Essay", 13, 3, 10)
    assert (old.label, old.planned, old.done) == ("Old 2", None, 1), "asked for no more: as its first proper task"
    assert overview.trials is not None
    assert (overview.trials.counts[TaskState.ACCEPTED], overview.waiting) == (2, 1)


def test_the_database_counts_what_the_page_counts(study: Study) -> None:
    """The home's figures and the page's are of one kind: each state, erased and not, trial, imported, paid or not."""
    other = StyleFactory(study=study, name="essay", version=2, label="Essay, anew")
    for n, state in enumerate(TaskState.values * 2):
        task(study, state, paid=100 * (n % 3), style=other if n % 4 == 0 else None, is_trial=n % 5 == 0)
    task(study, TaskState.ACCEPTED, pay=None, is_imported=True)
    for state in (TaskState.ACCEPTED, TaskState.SUBMITTED):
        ResponseFactory(task=task(study, state, paid=500), text="", erased_at=NOW)
    twice = task(study, TaskState.ACCEPTED, paid=300)
    TaskPayment.objects.create(task=twice, amount=50, reason="topped up", at=NOW)
    reckoned = progress_queries.count_groups(study)
    assert reckoned == progress_queries.group_tasks(progress_queries.load_tasks(study))
    assert sum(group.n for group in reckoned) == WritingTask.objects.filter(study=study).count()
    found, home = progress_overview.overview(study), progress_overview.study_card(study)
    assert (home["whole"], home["waiting"], home["spending"]) == (found.whole, found.waiting, found.spending)
    assert home["trials"] == found.trials is not None
    assert found.erased == 2


def test_a_revision_counts_with_what_it_revises(study: Study) -> None:
    writer = ParticipantFactory(study=study)
    first = task(study, TaskState.REVISION, minutes=30, participant=writer)
    fresh = task(study, TaskState.ACCEPTED, minutes=30, paid=1000, participant=writer, topic=first.topic, revises=first)
    overview = progress_overview.overview(study)
    (person,) = overview.writers
    assert [each.seconds for each in overview.responses] == [HOUR]
    assert (person.wage, person.handed_in, person.counts[TaskState.REVISION]) == (1000, 1, 0)
    lease = NOW + timedelta(days=1)
    WritingTask.objects.filter(pk=fresh.pk).update(state=TaskState.CLAIMED, submitted_at=None, lease_until=lease)
    (person,) = progress_overview.overview(study).writers
    assert (person.handed_in, person.counts[TaskState.REVISION]) == (1, 1)


def test_wages_by_response_and_writer(study: Study) -> None:
    quick, slow = ParticipantFactory.create_batch(2, study=study)
    task(study, TaskState.ACCEPTED, minutes=30, paid=1000, participant=quick)  # 20.00 an hour
    task(study, TaskState.SUBMITTED, minutes=60, participant=quick)  # 10.00 an hour, as promised
    task(study, TaskState.ACCEPTED, minutes=120, paid=1000, participant=slow)  # 5.00 an hour
    task(study, TaskState.REJECTED, minutes=600, participant=slow)  # no wage
    task(study, TaskState.ACCEPTED, paid=1000, participant=slow)  # its time is not known
    overview = progress_overview.overview(study)
    people = {writer.pk: (writer.wage, writer.is_below, writer.earned, writer.topping) for writer in overview.writers}
    # 12.00 an hour for two hours, less what was paid.
    assert people == {quick.pk: (1500, False, 1000, 0), slow.pk: (500, True, 2000, 1400)}
    assert [writer.pk for writer in overview.below] == [slow.pk]
    assert overview.share_below == pytest.approx(2 / 3)
    assert overview.wage is not None
    assert (overview.wage.estimate, overview.wage.clusters) == (1000, 3)
    task(study, TaskState.ACCEPTED, minutes=5 / 60, paid=1000)  # else 7,200 an hour
    overview = progress_overview.overview(study)
    assert overview.wage is not None
    assert (overview.wage.estimate, overview.wage.clusters, overview.too_short) == (1000, 3, 1)


def test_times_of_trials_stand_apart(study: Study) -> None:
    task(study, TaskState.ACCEPTED, minutes=20, paid=1000, is_trial=True)
    found = progress_overview.overview(study)
    assert [(time.label, time.median.estimate) for time in found.times] == [("trials", 1200)]
    assert found.wage is not None, "the wage counts them"
    task(study, TaskState.ACCEPTED, minutes=60, paid=1000)
    task(study, TaskState.ACCEPTED, minutes=40, paid=1000, is_trial=True)
    times = progress_overview.overview(study).times
    assert [(time.label, time.median.estimate, time.median.clusters) for time in times] == [
        ("Essay", 3600, 1),
        ("", 3600, 1),
        ("trials", 1800, 2),
    ]


def test_topping_up_pays_once_and_only_whoever_is_below(study: Study) -> None:
    by, slow, quick = UserFactory(), *ParticipantFactory.create_batch(2, study=study)
    task(study, TaskState.ACCEPTED, minutes=61, paid=1000, participant=slow)
    task(study, TaskState.ACCEPTED, minutes=120, paid=1000, participant=slow)
    task(study, TaskState.SUBMITTED, minutes=500, participant=slow)  # not accepted: nothing yet
    task(study, TaskState.ACCEPTED, minutes=30, paid=1000, participant=quick)
    given = {"study": study, "by": by, "now": NOW}
    assert wages.top_up(participant=slow, **given) == 220 + 1400
    assert wages.top_up(participant=slow, **given) == 0
    assert wages.top_up(participant=quick, **given) == 0
    assert TASKS.total_earned(slow) == 2000 + 1620
    WritingPlan.objects.update(wage_floor=2400)  # another floor is another reason
    assert wages.top_up(participant=slow, **given) == 1220 + 2400
    WritingPlan.objects.update(wage_floor=None)
    assert wages.top_up(participant=slow, **given) == 0


def test_medians_have_an_interval_where_there_are_enough() -> None:
    assert wages.medians([None, None]) is None
    one = wages.medians([5.0, None])
    assert (one.estimate, one.clusters) == (5, 1)
    assert one.low != one.low  # undefined: one response says nothing of others
    assert [wages.medians([float(n) for n in range(count)]).has_ends for count in (4, 5, 6)] == [False, False, True]
    many = wages.medians([float(n) for n in range(101)])
    assert many.estimate == 50
    # The binomial interval of the median of 101: the 41st to the 61st.
    assert 36 <= many.low <= 44
    assert 56 <= many.high <= 64


def test_cost_so_far_and_to_come(study: Study) -> None:
    first, second = study.topics.order_by("id")
    task(study, TaskState.ACCEPTED, paid=1000, topic=first, slot=0)
    task(study, TaskState.SUBMITTED, topic=second, slot=0)
    spending = progress_overview.overview(study).spending
    assert (spending.paid, spending.charges, spending.waiting, spending.to_come) == (1000, 150, 1150, 0)
    assert spending.total == 2300
    WritingPlan.objects.update(slots=2)
    assert progress_overview.overview(study).spending.total == 2300 + 2 * 1150


def test_stages_count_what_was_claimed_answered_and_agreed_to_here(study: Study) -> None:
    plan = study.writing_plan
    first, second, other = ParticipantFactory.create_batch(3, study=study)
    common = {"study": study, "purpose": "writing", "created_at": NOW}
    # A key of somebody who came by an open link is no invitation.
    EntryLink.objects.create(kind=EntryKind.PERSONAL, participant=other, token_hash=b"k" * 32, **common)
    link = EntryLink.objects.create(kind=EntryKind.OPEN, token="t", token_hash=b"o" * 32, **common)
    other_text = ConsentTextFactory(study=study)
    for person, text in ((first, plan.consent_text), (second, plan.consent_text), (other, other_text)):
        Arrival.objects.create(link=link, participant=person, arrived_at=NOW, last_at=NOW)
        Consent.objects.create(participant=person, text=text, given_at=NOW)
    survey = surveys.ensure(study=study, kind=SurveyKind.ENTRY, now=NOW)
    WritingPlan.objects.update(entry_survey=survey)
    SurveyAnswers.objects.create(task=task(study, TaskState.ACCEPTED, participant=first), survey=survey)
    task(study, TaskState.CLAIMED, participant=second)
    task(study, TaskState.ACCEPTED, participant=second, is_imported=True)
    stages = progress_overview.overview(study).stages
    assert {stage.name: stage.people for stage in stages if stage.name != "invited"} == {
        "arrived": 3, "consented": 2, "claimed": 2, "answered": 1, "submitted": 1, "accepted": 1,
    }  # fmt: skip


def test_what_was_imported_has_no_pay_and_no_plan() -> None:
    study = StudyFactory()
    style = StyleFactory(study=study)
    task(study, TaskState.ACCEPTED, is_imported=True, pay=None, minutes=30, style=style)
    found = progress_overview.overview(study)
    assert found.is_imported
    assert (found.whole.planned, found.wage, found.share_below, found.spending.to_come) == (None, None, None, None)
    assert [time.median.estimate for time in found.times] == [1800, 1800]
    assert found.writers[0].topping == 0
    assert progress_overview.study_card(study)["waiting"] == 0


def test_a_plan_without_topics_asks_for_nothing() -> None:
    study = StudyFactory()
    assert progress_overview.overview(study).styles == []
    services.ensure_plan(study, NOW)
    overview = progress_overview.overview(study)
    assert [(style.planned, style.done, style.share) for style in overview.styles] == [(0, 0, None)] * 3
    assert overview.spending.total == 0


def test_a_fixed_number_of_queries(study: Study) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            progress_overview.overview(study)
        return len(asked)

    for _ in range(3):
        task(study, TaskState.ACCEPTED, minutes=20, paid=1000)
    few = queries()
    topic, style = TopicFactory(study=study), study.writing_plan.styles.get()
    people = Participant.objects.bulk_create(
        Participant(study=study, kind="CROWD", external_id=f"p{n}", created_at=NOW) for n in range(300)
    )
    WritingTask.objects.bulk_create(
        WritingTask(
            study=study, topic=topic, style=style, external_id=f"t{n}", state=TaskState.SUBMITTED, participant=person,
            pay=1000, active_seconds=60.0 * n, created_at=NOW,
        )
        for n, person in enumerate(people)
    )  # fmt: skip
    assert queries() == few <= 16


def test_tables_to_download_hold_no_formulas(study: Study) -> None:
    writer = ParticipantFactory(study=study, external_id='=HYPERLINK("x")')
    task(study, TaskState.ACCEPTED, minutes=30, paid=1000, participant=writer)
    tables = {name: progress_overview.as_table(study, name).decode() for name in TABLES}
    assert [name for name, text in tables.items() if len(text.splitlines()) < 2 or re.search('\n"?=', text)] == []
    assert "'=HYPERLINK" in tables["writers"]
    assert tables["writers"].splitlines()[1].endswith("1,1,0,1800.0,20.00,10.00,EUR")
    with pytest.raises(UnknownTable):
        progress_overview.as_table(study, "secrets")


def test_the_time_of_an_imported_log_is_known() -> None:
    made = WritingTaskFactory(claimed=True, is_imported=True)
    # Typed for a minute, then away for ten, then one more change; the last snapshot is the same text again.
    snapshots = [(n * 1000, "a" * (n + 1)) for n in range(61)] + [(660_000, "b"), (661_000, "b")]
    packed = logs.PackedEvents(count=len(snapshots), payload=codec.pack(codec.encode(snapshots)))
    logs.store_packed([logs.PackedLog(made, NOW, (packed,))], source=LogSource.SNAPSHOTS, now=NOW)
    made.refresh_from_db()
    assert made.seconds == pytest.approx(660, abs=1)
    assert 60 <= made.active_seconds <= 95

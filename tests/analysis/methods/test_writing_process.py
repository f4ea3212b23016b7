"""What is kept of logs, what was paid, what an erasure leaves, and the page that shows it all."""

import json
import re
from datetime import timedelta

import pytest

from analysis.analyses import erasure
from analysis.figures import figure
from analysis.inputs import arrays, queries, responses
from analysis.models import LogMeasures, ResultTable, Snapshot
from analysis.reports import builder
from analysis.tables import run_tables
from analysis.tables.table import TABLES, Holds
from analysis.writing_process import measures
from annotation.models import Assignment, Campaign
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from tests import submitted_responses
from tests.analysis import small_study
from tests.analysis.page_visits import visit
from tests.analysis.small_study import analyse
from tests.factories import NOW, ParticipantFactory, WritingPlanFactory
from writing import erasure as writing_erasing
from writing.enums import SurveyKind, TaskState
from writing.models import LogBatch, Response, Survey, SurveyAnswers, TaskPayment, WritingLog, WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def written_here(shared_rows: None) -> int:
    """A judged study, with three more responses that were written here; one of them by somebody who has them erased."""
    made = small_study.make()
    topic = made.topics.get(external_id="t1")
    for minute in range(3):
        submitted_responses.submitted(made, topic=topic, style=made.styles.get(name="essay"), minutes=minute,
                            participant=ParticipantFactory(study=made, external_id=f"author-{minute}"))  # fmt: skip
    return made.pk


@pytest.fixture
def study(written_here: int, db: None) -> Study:
    return Study.objects.get(pk=written_here)


def authors(found: arrays.Inputs, what) -> list[str]:
    return [found.responses[each.response].participant for each in what]


def measured(found: arrays.Inputs) -> dict[str, dict[str, float | None]]:
    return dict(zip(authors(found, found.processes), [each.measures for each in found.processes], strict=True))


def rows(run: Run, name: str) -> list:
    return next(iter(ResultTable.objects.filter(run=run, name=name).values_list("rows", flat=True)), [])


def named(run: Run, name: str) -> set[str]:
    """The responses that a table is about."""
    return {row["response"] for row in rows(run, name)}


def test_logs_are_measured_once_and_kept_until_the_method_changes(study, monkeypatch, django_assert_num_queries):
    first = queries.load(study)
    assert LogMeasures.objects.count() == len(first.processes) == 3
    passages = study.topics.get(external_id="t1").retrieved.order_by("rank").values_list("passage__text", flat=True)
    assert measured(first)["author-0"] == measures.measure(submitted_responses.written()[0], list(passages))
    with monkeypatch.context() as patch:
        patch.setattr(responses.logs, "prefetched_events", None)  # nothing is read any more
        assert queries.load(study).digest == first.digest
        with django_assert_num_queries(1):
            responses.load_log_measures(study, first.responses)
    monkeypatch.setattr(measures, "VERSION", measures.VERSION + 1)
    monkeypatch.setattr(responses.measures, "measure", lambda *_: measures.unknown() | {"pauses": 99})
    assert {each["pauses"] for each in measured(queries.load(study)).values()} == {99}
    assert list(LogMeasures.objects.values_list("version", flat=True)) == [measures.VERSION] * 3


def test_a_log_that_cannot_be_read_or_of_a_text_that_is_not_included_stops_nothing(study):
    log = WritingLog.objects.order_by("pk").first()
    LogBatch.objects.filter(log=log).delete()
    LogBatch.objects.create(log=log, session=0, number=0, first_event=0, event_count=1, codec="columns-zstd-1",
                            payload=b"no batch at all", digest=b"0" * 32, received_at=NOW)  # fmt: skip
    found = measured(queries.load(study))
    assert set(found["author-0"].values()) == {None}
    assert found["author-1"]["pauses"]
    WritingTask.objects.filter(response__participant__external_id="author-0").update(state=TaskState.SUBMITTED)
    Response.objects.filter(participant__external_id="author-0").update(is_included=False)
    assert set(measured(queries.load(study))) == {"author-1", "author-2"}


def test_figures_of_several_sessions_are_those_of_the_text(study):
    """The branch of an earlier session is no part of how the text came about."""
    task = WritingTask.objects.filter(response__isnull=False).order_by("pk").first()
    task.log.delete()
    begun = submitted_responses.typed("Tides differ.", start=0)
    branch = submitted_responses.pasted("x" * 500, ms=60_000, at=13)
    log = submitted_responses.log_of(
        task, [(begun + branch, None, 0), (submitted_responses.typed(" Much.", start=90_000, at=13), 0, len(begun))]
    )
    found = measured(queries.load(study))[task.participant.external_id]
    assert (found["produced"], found["pastes"]) == (19, 0)
    assert found == measures.measure(responses.logs.events(log), [])  | {
        name: found[name] for name in ("passage_share", "elsewhere_share")
    }  # fmt: skip


@pytest.mark.extended
def test_an_erasure_takes_measures_answers_and_rows_with_it(study):
    kind = Survey.objects.create(study=study, name="exit", kind=SurveyKind.EXIT, questions=[], created_at=NOW)
    for task in WritingTask.objects.filter(response__isnull=False):
        SurveyAnswers.objects.create(survey=kind, task=task, answers={"glad": 1})
    run = analyse(study)
    gone, kept = (Response.objects.get(participant__external_id=f"author-{n}") for n in (1, 2))
    before = Snapshot.objects.get(run=run)
    assert named(run, "writing_process") >= {gone.external_id, kept.external_id}
    writing_erasing.erase(gone.participant, NOW)
    erasure.erase(gone.participant, NOW)
    assert LogMeasures.objects.count() == 2
    of_writing = [name for name, table in TABLES.items() if table.holds is Holds.WRITING]
    assert [name for name in of_writing if gone.external_id in named(run, name)] == []
    assert kept.external_id in named(run, "writing_process")
    after = Snapshot.objects.get(run=run)
    found = arrays.unpack(bytes(after.payload))
    assert set(authors(found, found.processes)) == set(authors(found, found.answers)) == {"author-0", "author-2"}
    assert after.digest == found.digest != before.digest
    run.refresh_from_db()
    assert run.stale_at is not None
    assert run.inputs_digest == before.digest  # what it was made of
    assert gone.external_id not in named(analyse(study), "writing_process")


@pytest.mark.extended
def test_pay_and_time_are_key_figures(study):
    WritingPlanFactory(study=study, fee=40, tax=10)
    tasks = list(WritingTask.objects.filter(response__isnull=False).order_by("pk"))
    for task, seconds in zip(tasks, (600.0, 900.0, None), strict=True):
        WritingTask.objects.filter(pk=task.pk).update(active_seconds=seconds, pay=250)
    TaskPayment.objects.create(task=tasks[0], amount=250, reason="accepted", at=NOW)
    TaskPayment.objects.create(task=tasks[0], amount=50, reason="bonus", at=NOW + timedelta(hours=1))
    found = queries.load(study)
    paid = {(wage.pay, wage.charges, wage.seconds) for wage in found.wages if wage.response >= 0}
    assert paid == {(300, 50, 600.0), (250, 50, 900.0), (250, 50, None)}
    figures = {row["name"]: row for row in rows(analyse(study), "key_figures")}
    assert figures["pay_per_response"]["value"] == pytest.approx((2.5 + 2.5 + 3.0) / 3)
    assert figures["cost_per_response"]["value"] == pytest.approx((3.0 + 3.0 + 3.5) / 3)
    # Both with a known time: 5.50 dollars in 25 minutes.
    assert figures["hourly_rate_writing"]["value"] == pytest.approx(5.5 / (1500 / 3600))
    assert figures["hourly_rate_writing"]["n"] == 2
    assert figures["pay_per_response"]["unit"] == "USD"
    assert arrays.unpack(found.pack()).digest == found.digest


def test_pay_of_judges_by_hand(study):
    Campaign.objects.filter(study=study).update(fee=100, tax=0)
    Assignment.objects.filter(questionnaire__campaign__study=study).update(pay=550, seconds=1500.0)
    figures = {row["name"]: row for row in rows(analyse(study), "key_figures")}
    judges = len(small_study.JUDGES)
    votes, labels = figures["judgments"]["value"], 2 * len(small_study.VOTES)
    assert figures["questionnaires"]["value"] == judges
    assert figures["judgments_per_questionnaire"]["value"] == votes / judges
    assert figures["minutes_per_judgment"]["value"] == pytest.approx(25 / (votes / judges))
    assert figures["hourly_rate_judging"]["value"] == pytest.approx(5.5 * 60 / 25)  # the paper's 13.20
    assert figures["cost_per_judgment"]["value"] == pytest.approx(6.5 * judges / votes)
    assert figures["cost_per_label"]["value"] == pytest.approx(6.5 * judges / labels)
    assert figures["cost_per_label"]["low"] is None


@pytest.mark.extended
def test_the_page_has_sections_of_what_there_is_and_responses_in_pages(study, monkeypatch):
    monkeypatch.setattr("analysis.methods.response_page.RESPONSES_PER_PAGE", 4)
    assert visit(study, "writing/").context["run"] is None
    run = analyse(study)
    text = visit(study, "writing/").content.decode()
    assert ('id="lengths"' in text, 'id="survey"' in text) == (True, False)  # nobody was asked
    last = visit(study, "writing/?page=3").context["page"]
    assert (last.paginator.num_pages, last.start_index(), last.end_index()) == (3, 9, 9)
    later = ["responses", "lengths", "readability", "citation_overlap", "citation_order", "citation_rank_medians",
             "survey", "writing_process_means"]  # fmt: skip
    ResultTable.objects.filter(run=run, name__in=later).delete()
    assert 'id="lengths"' not in visit(study, "writing/").content.decode()  # as of before texts were read


@pytest.mark.extended
def test_surveys_are_shown_in_the_studys_own_words_and_every_table_has_a_name_of_its_own(study):
    options = [{"value": 0, "label": "not in the least"}, {"value": 1, "label": "rather"}]
    asked = [{"name": "glad", "text": "Are you glad of it?", "options": options}]
    kind = Survey.objects.create(study=study, name="exit", kind=SurveyKind.EXIT, questions=asked, created_at=NOW)
    for number, task in enumerate(WritingTask.objects.filter(response__isnull=False).order_by("pk")):
        SurveyAnswers.objects.create(survey=kind, task=task, answers={"glad": number, "hard": -number, "why": "words"})
    run = analyse(study)
    text = visit(study, "writing/").content.decode()
    assert "Are you glad of it? / Hard" in text
    assert "Why" not in text  # words that people wrote are not analysed
    names = re.findall(r'role="region" aria-label="([^"]+)"', text)
    assert len(names) == len(set(names))
    drawn = json.dumps(figure.specification(study, run, "survey"))
    assert "Are you glad of it?" in drawn
    assert "not in the least" in drawn
    printed = builder.whole_table(run, "survey")
    share = [row for row in printed.rows if row["statistic"] == "share"][1]
    assert share["question"].startswith("Are you glad of it?")
    assert share["option"] == "rather"
    assert "name" not in {column.key for column in printed.columns}
    assert run_tables.read(run, "survey")["survey"][0]["name"] == "glad_mean"  # files keep the names

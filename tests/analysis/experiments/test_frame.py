"""The frame of experiments: stages as a run, unit results, digests, estimates, the command."""

import json
import re
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from analysis.experiments import question_sets, services, unit_results
from analysis.experiments.experiment import BadParameterError, get
from analysis.models import ResultTable, UnitResult
from analysis.rag.protocols import Collection, Document, Query, Usage
from crowdrag.jobs import kinds, lifecycle, run_files, worker
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Call
from tests.analysis.experiments import planted
from tests.factories import ResponseFactory, StudyFactory, TopicFactory
from writing.enums import Origin

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker")]


def order(experiment, study, seed=0, **given):
    return services.order(experiment, study, {"generator": "endpoint:odd", **given}, seed=seed)


def run_it(experiment, study, **given) -> Run:
    return lifecycle.wait(services.start(order(experiment, study, **given)))


def test_stages_come_one_after_the_other_and_end_in_tables(experiment, study, endpoint):
    run = services.start(order(experiment, study))
    stages = [(unit.stage, unit.payload["stage"]) for unit in run.units.order_by("position")]
    assert stages == [(0, "answer")] * 3 + [(1, "score"), (2, "tables")]
    run = lifecycle.wait(run)
    assert run.state == "DONE", run.error
    rows = ResultTable.objects.get(run=run, name=planted.TABLE).rows
    # Closed form: without passages no answer is right, with them all but the last.
    assert [(row["condition"], row["score"], row["n"]) for row in rows] == [("bare", 0.0, 5), ("full", 0.8, 5)]
    assert sorted(UnitResult.objects.filter(run=run).values_list("key", flat=True)) == sorted(
        [f"answer:t{i}" for i in range(5)] + [f"score:t{i}" for i in range(5)]
    )


def test_equal_inputs_make_equal_rows_and_the_second_run_calls_nobody(experiment, study, server, endpoint):
    first, calls = run_it(experiment, study), Call.objects.count()
    second = run_it(experiment, study)
    assert first.inputs_digest == second.inputs_digest != ""
    tables = [list(ResultTable.objects.filter(run=run).values_list("name", "rows")) for run in (first, second)]
    assert tables[0] == tables[1]
    assert Call.objects.count() == calls == 6  # "ok:wrong" alone is the same prompt five times
    assert (first.summary["usage"]["calls"], first.summary["usage"]["stored"]) == (6, 4)
    assert (second.summary["usage"]["calls"], second.summary["usage"]["stored"]) == (0, 10)


@pytest.mark.extended
def test_a_run_that_is_cancelled_goes_on_where_it_stopped(experiment, study, server, endpoint):
    run = services.start(order(experiment, study))
    assert worker.work_next(run)
    lifecycle.cancel(run=run)
    found = unit_results.read(run)
    assert sorted(found) == ["answer:t0", "answer:t1"]
    run = lifecycle.wait(lifecycle.resume(run=run))
    assert run.state == "DONE"
    assert UnitResult.objects.filter(run=run).count() == 10
    assert len(server.seen) == 6


def test_questions_that_changed_meanwhile_end_the_run(experiment, study, endpoint):
    run = services.start(order(experiment, study))
    question_sets._cached.clear()
    TopicFactory(study=study, external_id="t0", version=2, query="ok:changed")
    run = lifecycle.wait(run)
    assert run.state == "FAILED"
    assert run.problems


def test_unit_results_are_kept_once_and_read_in_order():
    run = Run.objects.create(study=StudyFactory(), kind="experiment.planted", created_at="2026-01-01T00:00Z")
    spent = Usage(calls=2, prompt_tokens=10, cost=0.5)
    unit_results.keep(run, {"a:2": 2, "a:10": None, "B:1": {"x": [1.5]}}, usage=spent)
    unit_results.keep(run, {"a:2": 99, "a:3": 3}, usage=Usage(calls=1))
    assert list(unit_results.read(run).items()) == [("B:1", {"x": [1.5]}), ("a:10", None), ("a:2", 2), ("a:3", 3)]
    assert list(unit_results.read(run, "a:")) == ["a:10", "a:2", "a:3"]
    assert unit_results.one(run, "a:10") is None
    with pytest.raises(LookupError):
        unit_results.one(run, "b")
    assert unit_results.usage(run).calls >= 2


def test_topics_of_a_study_become_questions(study):
    TopicFactory(study=study, external_id="bare", query="Nobody retrieved anything for this.")
    ResponseFactory(study=study, topic=study.topics.get(external_id="t1"), origin=Origin.MODEL, text="no answer")
    hidden = ResponseFactory(study=study, topic=study.topics.get(external_id="t1"), origin=Origin.HUMAN, text="out")
    type(hidden).objects.filter(pk=hidden.pk).update(is_included=False)
    found = question_sets.of_study(study)
    assert found.left_out == (("no passages", 1),)
    assert [query.id for query in found.queries] == [f"t{i}" for i in range(5)]
    assert found.queries[1].answers == ("right1",)  # neither the model's, nor what does not count; no markers
    assert [document.id for document in found.queries[1].documents] == ["p1-0", "p1-1"]
    assert question_sets.of_study(study, "bullet").queries[1].answers == ()


def test_a_digest_is_of_what_is_asked():
    one = Collection("a", (Query("1", "Q?", ("A",), (Document("d", "text"),)),))
    assert question_sets.digest(one) == question_sets.digest(Collection("b", one.queries))
    other = Collection("a", (Query("1", "Q?", ("A",), (Document("d", "text."),)),))
    assert question_sets.digest(one) != question_sets.digest(other)


def test_queries_are_drawn_by_the_seed_and_stay_in_order(study):
    def names(most, seed):
        return [each.id for each in question_sets.collection({"queries": most}, study, seed=seed).queries]

    assert names(3, 1) == names(3, 1) == sorted(names(3, 1))
    assert len({tuple(names(2, seed)) for seed in range(20)}) > 1
    assert names(99, 0) == names(0, 0) == [f"t{i}" for i in range(5)]


def test_files_are_refused_with_file_and_line(study, tmp_path):
    path = tmp_path / "x_passages.jsonl"
    path.write_text('{"index": 1}\n')
    upload = run_files.store_upload(study=study, source=path)
    given = {"collection": services.of_upload(study, "bank", upload.pk)}
    with pytest.raises(question_sets.BadCollectionError, match=r"x_passages\.jsonl, line 1, question") as caught:
        question_sets.collection(given, study)
    [problem] = caught.value.problems
    assert (problem["file"], problem["line"], problem["field"]) == ("x_passages.jsonl", 1, "question")
    with pytest.raises(question_sets.BadCollectionError):
        question_sets.collection({"collection": {"source": "odd", "upload": upload.pk}}, study)
    with pytest.raises(question_sets.BadCollectionError):
        question_sets.collection({"collection": {"source": "bank", "upload": upload.pk}}, StudyFactory())
    with pytest.raises(question_sets.BadCollectionError):
        question_sets.read("passages", path, others=3, rng=None)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"k": 9}, r"\bk\b.*9"),
        ({"depth": 9}, "depth"),
        ({"collection": {"source": "lamp"}}, "lamp"),
        ({"queries": -1}, "-1|queries"),
        ({"generator": ""}, "generator"),
        ({"generator": "endpoint:none"}, "none"),
        ({"judge": "endpoint:nobody"}, "nobody"),
    ],
)
def test_bad_orders_say_what_is_wrong(experiment, study, endpoint, given, named):
    with pytest.raises(BadParameterError, match=named):
        order(experiment, study, **given)


def test_an_order_is_reckoned_before_anything_is_asked(experiment, study, server, paid):
    expected = services.forecast(order(experiment, study))
    assert (expected.estimate.calls, expected.units, expected.problem) == (10, 5, "")
    assert expected.cost == Decimal(200 * 1000 + 160 * 2000) / 1_000_000
    assert expected.left == 1_000_000
    assert expected.seconds is None  # this endpoint never answered
    assert server.seen == []
    run_it(experiment, study)
    assert services.forecast(order(experiment, study)).seconds > 0


@pytest.mark.parametrize("name", ["fair", "uplift"])
def test_right_answers_that_are_longer_than_what_may_be_written_are_warned_of(study, endpoint, name):
    def is_warned(**given) -> bool:
        return "60" in services.forecast(order(get(name), study, **given)).estimate.note

    assert not is_warned()
    for topic in study.topics.all():
        ResponseFactory(study=study, topic=topic, style=study.styles.get(), origin=Origin.HUMAN, text="word " * 60)
    assert is_warned()
    assert not is_warned(max_tokens=200)


def test_nothing_starts_without_questions(experiment, endpoint):
    study = StudyFactory(llm_budget=1)
    assert services.forecast(order(experiment, study)).problem
    with pytest.raises(kinds.InputRejectedError):
        services.start(order(experiment, study))
    assert not Run.objects.exists()


def test_the_command_estimates_runs_and_writes_the_report(experiment, study, server, paid, tmp_path, capsys):
    options = {"study": study.slug, "set": ["generator=endpoint:odd", "k=2", "weights=1,0.5"]}
    call_command("experiment", "planted", estimate=True, **options)
    assert re.search(r"\b10\b", capsys.readouterr().out)
    assert server.seen == []
    call_command("experiment", "planted", out=tmp_path / "out", seed=3, **options)
    run = Run.objects.get(kind="experiment.planted")
    assert run.seed == 3
    assert run.parameters["weights"] == [1, 0.5]
    there = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    written = {"report.html", "report.pdf", "methods.tex", "run.json"}
    assert written | {f"{planted.TABLE}.csv", f"{planted.TABLE}.tex"} <= there
    assert {f"figures/{planted.TABLE}.{form}" for form in ("svg", "png", "pdf", "json")} <= there
    about = json.loads((tmp_path / "out/run.json").read_text())
    assert about["inputs_digest"] == run.inputs_digest
    assert "5 questions were asked twice." in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("nothing", {}, "nothing"),
        ("planted", {"set": ["k"]}, "KEY=VALUE"),
        ("planted", {"set": ["k=9"]}, r"\bk\b.*9"),
        ("planted", {"file": "/nowhere.jsonl"}, "--format"),
        ("planted", {"file": "/nowhere.jsonl", "format": "bank"}, "nowhere.jsonl"),
        ("planted", {"study": "nowhere"}, "nowhere"),
    ],
)
def test_the_command_refuses_what_cannot_be(experiment, study, endpoint, name, options, named):
    assert get("planted") is get("experiment.planted") is experiment
    assert get("self-preference") is get("self_preference")
    given = {"set": ["generator=endpoint:odd"], "study": study.slug, "estimate": True} | options
    with pytest.raises(CommandError, match=named):
        call_command("experiment", name, **given)

"""Fair RAG as a run: labels, rankings, tables, with planted utility; killed and resumed it comes to the same."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from analysis.experiments import runs, services
from analysis.experiments.experiment import BadParameterError, get
from analysis.experiments.fair_rag.parameters import FairRagParameters
from analysis.figures import figure, renderer
from analysis.models import ResultTable
from analysis.rag.fair_rag import utility
from analysis.rag.protocols import Prompt
from analysis.rag.qa_metrics import METRICS
from analysis.reports import builder
from analysis.reports import documents as reports_documents
from analysis.tables.table import TABLES
from crowdrag.jobs import lifecycle, run_files, worker
from crowdrag.jobs.models import Run, Upload
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study
from tests.analysis.cases import check_each
from tests.analysis.rag.fair_rag.planted import GOLD, Planted, query
from tests.analysis.rag.fair_rag.planted import answer as planted_answer
from tests.factories import StudyFactory

pytestmark = pytest.mark.django_db

WORDS = (
    ("alder", "noise", "birch", "", "cedar", "alder", "dogwood"),
    ("noise", "alder", "", "birch", "noise", "cedar"),
    ("", "dogwood", "cedar", "noise", "", "alder", "birch", "noise"),
    ("alder", "noise", ""),  # one useful document
    (),
)
#: Scores that the data carries, so that rankings do not depend on a library.
SCORES = (3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.2, 0.1)
SMALL = {"retrievers": ["given"], "alphas": [1, 8], "samples": 40, "k": 3, "resamples": 50}


@pytest.fixture(autouse=True)
def planted(monkeypatch) -> Planted:
    made = Planted()
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
    monkeypatch.setattr(runs, "generator", lambda run, named="": made)
    return made


def order(study: Study, upload: int, seed: int = 0, **given):
    parameters = {"generator": "endpoint:odd", "collection": {"source": "qa", "upload": upload}}
    return services.order(get("fair"), study, parameters | SMALL | given, seed=seed)


@dataclass(frozen=True)
class Done:
    """A run on the planted questions: the keys of its rows, and what the generator was asked."""

    study: int
    upload: int
    run: int
    seen: tuple[Prompt, ...]


def questions(folder: Path) -> tuple[Study, Upload]:
    """A study with an upload of the planted questions, and an endpoint that nobody asks."""
    lines = [_line(f"q{i}", words) for i, words in enumerate(WORDS)] + [_line("none", ("alder", "birch"), gold="")]
    path = folder / "planted.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    study = StudyFactory()
    Endpoint.objects.create(name="odd", base_url="http://127.0.0.1:9", model="m", is_local=True, is_allowed=True)
    return study, run_files.store_upload(study=study, source=path)


@pytest.fixture(scope="module")
def done(shared_rows, tmp_path_factory) -> Done:
    """Made once, with seed 0."""
    study, upload = questions(tmp_path_factory.mktemp("fair"))
    generator = Planted()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
        patch.setattr(runs, "generator", lambda run, named="": generator)
        run = lifecycle.wait(services.start(order(study, upload.pk)))
    return Done(study.pk, upload.pk, run.pk, tuple(generator.seen))


@pytest.fixture
def run(done, db) -> Run:
    return Run.objects.get(pk=done.run)


@pytest.fixture
def asked(done, db):
    """Make an order on the planted questions."""
    return partial(order, Study.objects.get(pk=done.study), done.upload)


def _line(name: str, words, gold: str = GOLD) -> dict:
    made = query(name, words, gold)
    documents = [
        {"id": each.id, "text": each.text, "score": score} for each, score in zip(made.documents, SCORES, strict=False)
    ]
    return {"id": name, "question": made.question, "golden_answers": list(made.answers), "documents": documents}


def rows(run: Run) -> dict[str, list[dict]]:
    assert run.state == "DONE", (run.error, run.problems)
    return dict(ResultTable.objects.filter(run=run).values_list("name", "rows"))


def work_on(run: Run) -> None:
    while worker.work_next(run):
        pass


def test_a_run_comes_to_all_tables_and_charts(run) -> None:
    found = rows(run)
    experiment = get("fair")
    assert set(found) == set(experiment.table_names)
    for name, made in found.items():
        assert made, name
        assert {key for row in made for key in row} <= {*TABLES[name].column_names, "note"}, name
        assert set(TABLES[name].column_names) <= {key for row in made for key in row}, name
    assert {row["reason"]: row["queries"] for row in found["fair_left_out"]} == {
        "": 3, utility.FEW_USEFUL: 1, utility.NO_DOCUMENT: 1, utility.NO_ANSWER: 1
    }  # fmt: skip
    drawn = dict(figure.specifications(run))
    assert {name for name in drawn if name.startswith("fair")} == {
        "fair_disparity",
        "fair_tradeoffs",
        "fair_attribution",
    }
    for spec in drawn.values():
        assert renderer.draw(spec, "svg").startswith(b"<svg")
    means = {(row["alpha"], row["measure"]): row["value"] for row in found["fair_summary"] if row["rank"] == "sampled"}
    assert means[1.0, "disparity_normalised"] < means[8.0, "disparity_normalised"]
    fixed = [row for row in found["fair_queries"] if row["rank"] == "deterministic"]
    assert [row["disparity_normalised"] for row in fixed] == [1.0] * 3
    assert {each.key for each in experiment.methods(run, found).references} >= {"kim2025", "diaz2020"}
    report = builder.report(run)
    assert [table.name for table in report.tables] == list(experiment.table_names)
    assert [chart.name for chart in report.charts] == ["fair_disparity", "fair_tradeoffs", "fair_attribution"]
    assert reports_documents.write_html(report)


def test_the_generator_is_asked_for_labels_and_each_distinct_list_once(run, done) -> None:
    found = rows(run)
    labels = sum(len(words) + 1 for words in WORDS if words)
    taking = [row for row in found["fair_queries"] if row["alpha"] == 1.0]
    assert len(taking) == 3
    costs = {row["step"]: row for row in found["fair_costs"]}
    assert costs["labels"]["prompts"] == labels
    asked_for = [prompt for prompt in done.seen if not prompt.choices]
    assert len(asked_for) == len(set(asked_for)) == labels + costs["rankings"]["prompts"]
    claims = [prompt for prompt in done.seen if prompt.choices]
    assert len(claims) == costs["attribution"]["prompts"]
    assert [costs[step]["is_standin"] for step in ("labels", "rankings", "attribution")] == [False, False, True]
    assert costs["attribution"]["by"] == "planted asked for yes or no"
    assert costs["rankings"]["prompts"] < costs["rankings"]["rankings"] == 3 * (3 * 40 + 1)
    assert costs["rankings"]["prompt_tokens"] > 0


def test_examples_show_what_was_answered_to_which_list(run) -> None:
    found = rows(run)
    shown = found["fair_examples"]
    by_question = {name: [row for row in shown if row["query"] == name] for name in ("q0", "q1", "q2")}
    # Without documents, one list of each alpha, the retriever's own ranking, and the oracle's.
    assert [[row["rank"] for row in own] for own in by_question.values()] == [
        ["none", "sampled", "sampled", "deterministic", "oracle"]
    ] * 3
    words = {f"q{i}": each for i, each in enumerate(WORDS)}
    f1 = METRICS["f1"].score
    for row in shown:
        places = [int(name.removeprefix("d")) for name in (row["documents"] or "").split(", ") if name]
        assert row["answer"] == planted_answer([words[row["query"]][place] for place in places if
                                                words[row["query"]][place]])  # fmt: skip
        assert row["utility"] == pytest.approx(f1(row["answer"], [row["gold"]]))
        assert (row["gold"], row["question"]) == (GOLD, f"which trees are there in {row['query']}?")
    useful = {(row["query"], row["document"]) for row in found["fair_labels"] if row["useful"]}
    for row in shown:
        if row["rank"] == "oracle":
            known = [(row["query"], name) in useful for name in row["documents"].split(", ")]
            assert known == sorted(known, reverse=True)


@pytest.mark.extended
def test_under_a_budget_fewer_lists_are_asked_for_and_their_error_stands_there(asked, planted) -> None:
    found = rows(lifecycle.wait(services.start(asked(lists_per_query=18))))
    costs = {row["step"]: row for row in found["fair_costs"]}
    assert costs["rankings"]["prompts"] <= 3 * (18 + 1)
    sampled = [row for row in found["fair_queries"] if row["alpha"] == 1.0]
    assert all(row["generated"] < row["lists"] for row in sampled)
    assert any(row["utility_error"] > 0 for row in sampled)
    assert any(row["error"] > 0 for row in found["fair_summary"] if row["measure"] == "utility")


def test_what_is_not_asked_is_not_said_and_fewer_lists_are_estimated(asked, planted) -> None:
    fewer = asked(entailment="", lists_per_query=18)
    found = rows(lifecycle.wait(services.start(fewer)))
    assert len(planted.seen) <= services.forecast(fewer).estimate.calls
    row = found["fair_queries"][0]
    assert (row["attribution"], row["attributed_normalised"]) == (None, None)
    assert row["note"]
    slopes = {row["curve"]: row for row in found["fair_tradeoff"]}
    assert slopes["DA"]["slope"] is None
    assert slopes["DU"]["slope"] is not None


@pytest.mark.extended
def test_equal_seeds_give_equal_tables_and_others_do_not(run, asked) -> None:
    again, other = (rows(lifecycle.wait(services.start(asked(seed=seed)))) for seed in (0, 4))
    first = rows(run)
    assert first == again
    assert first["fair_summary"] != other["fair_summary"]


@pytest.mark.extended
@pytest.mark.parametrize("dies_at", [2, 90])
def test_a_run_that_is_killed_anywhere_resumes_to_the_same(run, asked, monkeypatch, dies_at) -> None:
    whole = rows(run)
    answer, calls = Planted._answer, []

    def dies(self, content: str):
        calls.append(content)
        if len(calls) == dies_at:
            raise KeyboardInterrupt
        return answer(self, content)

    monkeypatch.setattr(Planted, "_answer", dies)
    run = services.start(asked())
    with pytest.raises(KeyboardInterrupt):
        work_on(run)
    assert rows(lifecycle.wait(run)) == whole


def test_no_question_takes_part(asked, planted) -> None:
    planted.refuses = "Documents:"
    found = rows(lifecycle.wait(services.start(asked())))
    assert found["fair_tradeoff"] == found["fair_queries"] == []
    assert found["fair_left_out"][0] == {"reason": "", "queries": 0, "in_file": None, "named": None}
    assert found["fair_costs"][0]["failed"] > 0


@pytest.mark.extended
def test_several_retrievers_are_measured_each_and_together(asked) -> None:
    found = rows(lifecycle.wait(services.start(asked(retrievers=["bm25", "given"], k=2))))
    assert found["fair_intervals"][0]["retriever"] == "bm25"
    assert {row["retriever"] for row in found["fair_tradeoff"]} == {"bm25", "given", "all"}


def test_the_estimate_is_an_upper_bound(asked, done) -> None:
    expected = services.forecast(asked())
    assert (expected.estimate.queries, expected.estimate.left_out) == (4, 2)
    assert len(done.seen) <= expected.estimate.calls


def test_what_an_answer_follows_from_is_what_was_planted(asked, planted) -> None:
    found = rows(lifecycle.wait(services.start(asked(k=1, alphas=[1]))))
    fixed = {row["query"]: row for row in found["fair_queries"] if row["rank"] == "deterministic"}
    # The first document of q0 brings a word that stands in the answer, that of q1 noise, that of q2 nothing.
    assert [fixed[name]["attribution"] for name in ("q0", "q1", "q2")] == [1.0, 1.0, 0.0]
    assert [fixed[name]["utility"] > 0 for name in ("q0", "q1", "q2")] == [True, False, False]


def test_bad_parameters_say_what_they_may_be() -> None:
    def check(given, problem) -> None:
        with pytest.raises(BadParameterError, match=problem):
            FairRagParameters.from_dict(given)

    check_each(
        [
            ({"k": 0}, "k .* 1 .*100.* 0"),
            ({"alphas": []}, "alphas"),
            ({"alphas": [1, 1]}, "alphas"),
            ({"alphas": [-1]}, "alphas.*64"),
            ({"alphas": "low"}, "alphas"),
            ({"samples": 1.5}, "samples"),
            ({"samples": True}, "samples"),
            ({"metric": "bleu"}, "metric"),
            ({"bounds": "none"}, "bounds"),
            ({"lists_per_query": 3}, "lists_per_query|10"),
            ({"what": 1}, "what"),
            ({"retrievers": []}, "retrievers"),
        ],
        check,
    )


def test_parameters_are_written_as_they_are_read() -> None:
    made = FairRagParameters.from_dict({"alphas": [0, 2], "retrievers": "bm25, given", "lists_per_query": 40})
    assert made.retrievers == ("bm25", "given")
    assert FairRagParameters.from_dict(json.loads(json.dumps(made.to_dict()))) == made


def test_models_that_the_operator_did_not_name_are_refused(asked) -> None:
    for given, named in (({"retrievers": ["dense:/etc"]}, "/etc"), ({"entailment": "nli:somebody/else"}, "somebody")):
        with pytest.raises(BadParameterError, match=named):
            services.forecast(asked(**given))

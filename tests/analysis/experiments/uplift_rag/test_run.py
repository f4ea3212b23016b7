"""Uplift RAG as a run on planted uplift: all tables and charts, what is found, resuming, lending of rerankers."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from analysis.experiments import runs, services
from analysis.experiments.experiment import BadParameterError, get
from analysis.experiments.stage_context import StageContext
from analysis.experiments.uplift_rag import questions, stages
from analysis.experiments.uplift_rag.parameters import UpliftRagParameters
from analysis.figures import figure, renderer
from analysis.models import ResultTable, UnitResult
from analysis.rag.protocols import Collection, Query
from analysis.rag.uplift_rag import reranker
from analysis.tables.table import TABLES
from crowdrag.jobs import kinds, lifecycle, worker
from crowdrag.jobs.models import Artifact, Run, Unit
from tests.analysis.cases import check_each
from tests.analysis.rag.uplift_rag import planted
from tests.factories import StudyFactory

pytestmark = pytest.mark.django_db

#: Questions of the run that learns, and of those that only go through the motions.
N, FEW = 100, 12
SMALL = {
    "retriever": "given", "retrieve": 5, "feed": 2, "splits": 2, "epochs": 1, "learning_rate": 3e-3, "warm_up": 0.1,
    "resamples": 200, "methods": ["naive", "replug"], "ablations": ["without_selection", "without_reranking"],
}  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return str(planted.encoder(tmp_path_factory.mktemp("models") / "bert"))


@pytest.fixture(autouse=True)
def generator(monkeypatch, settings, encoder):
    made = planted.Planted()
    settings.BERTSCORE_MODELS = [encoder]
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
    monkeypatch.setattr(runs, "generator", lambda run, named="": made)
    return made


@pytest.fixture
def asked(tmp_path: Path, endpoint):
    """Make an order on planted questions, one without an answer among them and one with one document."""
    study = StudyFactory()

    def _order(seed: int = 0, n: int = FEW, **given):
        lines = [_line(query) for query in planted.queries(n, np.random.default_rng(0), documents=5)]
        lines[1]["golden_answers"] = []
        del lines[2]["documents"][1:]
        path = tmp_path / f"planted-{n}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        upload = services.upload_questions(study, path)
        parameters = {"generator": f"endpoint:{endpoint.name}", "collection": {"source": "qa", "upload": upload.pk}}
        return services.order(get("uplift"), study, parameters | SMALL | given, seed=seed)

    return _order


def _line(query: Query) -> dict:
    documents = [{"id": each.id, "text": each.text, "score": 5.0 - i} for i, each in enumerate(query.documents)]
    return {"id": query.id, "question": query.question, "golden_answers": list(query.answers), "documents": documents}


def rows(run: Run) -> dict[str, list[dict]]:
    assert run.state == "DONE", (run.error, run.problems)
    return dict(ResultTable.objects.filter(run=run).values_list("name", "rows"))


def one(rows: list[dict], **wanted) -> dict:
    (found,) = (row for row in rows if wanted.items() <= row.items())
    return found


def test_a_run_comes_to_all_tables_and_charts(asked) -> None:
    run = lifecycle.wait(services.start(asked(other="endpoint:odd")))
    found = rows(run)
    assert set(found) == set(get("uplift").table_names)
    for name, made in found.items():
        assert made, name
        for row in made:
            assert set(row) - {"note"} == set(TABLES[name].column_names), name
    counts = {row["name"]: row["count"] for row in found["uplift_counts"]}
    assert (counts["questions"], counts["one_document"], counts["left_out"]) == (FEW - 1, 1, 1)
    assert counts["label_prompts"] == (FEW - 2) * 6 + 2
    for measure in ("precision", "recall"):
        assert one(found["uplift_found"], method="upper_bound", measure=measure)["value"] == 1
    best, standard = (one(found["uplift_results"], method=name, metric="em") for name in ("upper_bound", "standard"))
    can_be_right = counts["right_without"] + counts["questions"] - counts["nothing_helps"]
    assert standard["value"] < best["value"] == pytest.approx(can_be_right / counts["questions"])
    assert (standard["p"], best["p"]) == (None, None)
    assert best["note"]
    assert one(found["uplift_inputs"], method="standard")["ratio"] == 1
    _check_thresholds(found)
    assert sum(row["share"] for row in found["uplift_categories"]) == pytest.approx(1)
    assert {row["difference"] for row in found["uplift_transfer"]} == {None, 0}  # both are the same model

    drawn = dict(figure.specifications(run))
    assert {
        "uplift_results", "uplift_ablations", "uplift_categories", "uplift_thresholds", "uplift_transfer",
    } <= set(drawn)  # fmt: skip
    for spec in drawn.values():
        assert renderer.draw(spec, "svg").startswith(b"<svg")


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_run_finds_what_helps(asked) -> None:
    found = rows(lifecycle.wait(services.start(asked(n=N, epochs=14, batch=2))))
    for measure in ("precision", "recall"):
        assert one(found["uplift_found"], method="uplift", measure=measure)["value"] >= 0.9
    ahead, by_chance = (one(found["uplift_order"], method=name) for name in ("uplift", "standard"))
    assert ahead["value"] >= 0.95 > by_chance["value"]
    assert ahead["p_adjusted"] < 0.05
    assert one(found["uplift_found"], method="standard", measure="precision")["value"] < 0.3
    best, ours, standard = (
        one(found["uplift_results"], method=name, metric="em") for name in ("upper_bound", "uplift", "standard")
    )
    assert standard["value"] < ours["value"] <= best["value"]
    assert ours["p_adjusted"] < 0.05
    assert one(found["uplift_inputs"], method="uplift")["ratio"] < 1


def _check_thresholds(found: dict[str, list[dict]]) -> None:
    told = found["uplift_thresholds"]
    assert [row["threshold"] for row in told] == sorted(row["threshold"] for row in told)
    # What it did hand over is what it would at its own threshold.
    own = one(told, threshold=0.5)
    for measure in ("precision", "recall"):
        assert own[measure] == one(found["uplift_found"], method="uplift", measure=measure)["value"]
    handed = one(found["uplift_inputs"], method="uplift")
    assert (own["documents"], own["without_documents"]) == (handed["documents"], handed["without_documents"])
    for column, falls in (("documents", -1), ("recall", -1), ("without_documents", 1)):
        values = np.array([row[column] for row in told])
        assert (falls * np.diff(values) >= 0).all(), column
    assert one(found["uplift_order"], method="standard")["difference"] is None
    assert [row["method"] for row in found["uplift_order"]] == ["standard", "uplift"]


@pytest.mark.extended
def test_where_nothing_is_handed_over_the_result_says_so(asked) -> None:
    run = lifecycle.wait(services.start(asked(threshold=1, methods=["naive"], ablations=[])))
    assert one(rows(run)["uplift_inputs"], method="uplift")["documents"] == 0
    assert len(runs.warnings(run)) == 1
    lenient = lifecycle.wait(services.start(asked(threshold=0, methods=["naive"], ablations=[])))
    assert runs.BARE not in lenient.summary


@pytest.mark.extended
def test_a_killed_run_goes_on_and_asks_nothing_twice(asked, generator) -> None:
    whole = rows(lifecycle.wait(services.start(asked())))
    once = len(generator.asked)
    run = services.start(asked())
    for _unit in range(2 + 2 * 4 + 1):  # labels, training of four methods, the answers of one split
        assert worker.work_next(run)
    kept = UnitResult.objects.filter(run=run).count()
    lifecycle.cancel(run=run)
    again = rows(lifecycle.wait(lifecycle.resume(run=run)))
    assert kept in {11 + 8 + 5, 11 + 8 + 6}
    assert again == whole
    assert len(generator.asked) == 2 * once  # the stand-in remembers nothing: as many as the first run, no more


@pytest.mark.extended
def test_rerankers_are_files_that_other_runs_use(asked, tmp_path) -> None:
    plain = {"ablations": [], "methods": []}
    lender = lifecycle.wait(services.start(asked(**plain)))
    lent = rows(lender)
    files = Artifact.objects.filter(run=lender).order_by("name")
    assert [each.name for each in files] == ["uplift-split-0.zip", "uplift-split-1.zip"]
    with files[0].file.open() as source, zipfile.ZipFile(source) as pack:
        pack.extractall(tmp_path)
    assert reranker.load(tmp_path / "reranker", device="cpu").about["method"] == "uplift"

    borrowed = rows(lifecycle.wait(services.start(asked(seed=5, trained=str(lender.key), **plain))))
    assert borrowed["uplift_answers"] == lent["uplift_answers"]
    assert not Artifact.objects.filter(run__parameters__trained=str(lender.key)).exists()

    # What cannot be lent is refused before anything is asked, and before anything is estimated.
    for given, named in (({"trained": str(lender.key), "division": 1}, "2 .* 0"), ({"trained": "nobody"}, "nobody")):
        with pytest.raises(kinds.InputRejectedError):
            services.start(asked(**given, **plain))
        with pytest.raises(BadParameterError, match=named):
            services.forecast(asked(**given, **plain))


def test_a_method_that_is_not_possible_says_why_and_the_others_go_on(asked) -> None:
    """The plain cross-encoder learns from documents that state the answer, and none does here."""
    found = rows(lifecycle.wait(services.start(asked(methods=["cross_encoder"], ablations=[]))))
    row = one(found["uplift_results"], method="cross_encoder", metric="f1")
    assert (row["value"], row["n"]) == (None, 0)
    assert row["note"]
    assert one(found["uplift_results"], method="uplift", metric="f1")["n"] == FEW - 1
    assert one(found["uplift_training"], method="cross_encoder", split=0)["note"]


def test_nothing_is_tested_by_what_has_learnt_from_it(asked) -> None:
    run = lifecycle.wait(services.start(asked(patience=1, splits=3, ablations=[], methods=[])))
    found = rows(run)
    split_of = {row["query"]: row["split"] for row in found["uplift_answers"]}
    for artifact in Artifact.objects.filter(run=run):
        with artifact.file.open() as source, zipfile.ZipFile(source) as pack:
            about = json.loads(pack.read("reranker/uplift.json"))
        split = int(artifact.name.removeprefix("uplift-split-").removesuffix(".zip"))
        tested = {query for query, own in split_of.items() if own == split}
        parts = [tested, set(about["trained_on"]), set(about["held_out"])]
        assert set.union(*parts) == set(split_of)
        assert sum(map(len, parts)) == len(split_of)


def test_an_estimate_is_an_upper_bound(asked, generator) -> None:
    made = asked()
    expected = services.forecast(made).estimate
    lifecycle.wait(services.start(made))
    assert len(set(generator.asked)) <= expected.calls
    assert (expected.queries, expected.left_out) == (FEW - 1, 1)
    used = sum(len(" ".join(each.content for each in prompt.messages).split()) for prompt in set(generator.asked))
    assert used <= expected.prompt_tokens


def test_folds_follow_from_ids_alone() -> None:
    queries = tuple(
        Query(str(i), "?", ("a",), planted.queries(1, np.random.default_rng(i))[0].documents) for i in range(23)
    )
    where = questions.fold_of(Collection("a", queries), UpliftRagParameters())
    again = questions.fold_of(Collection("b", queries[::-1]), UpliftRagParameters(epochs=3))
    assert where == again
    assert sorted(np.bincount(list(where.values()))) == [4, 4, 5, 5, 5]
    assert where != questions.fold_of(Collection("a", queries), UpliftRagParameters(division=1))
    with pytest.raises(BadParameterError):
        questions.fold_of(Collection("a", queries[:4]), UpliftRagParameters())


def test_parameters_that_cannot_be_used_are_named() -> None:
    def check(given, said) -> None:
        with pytest.raises(BadParameterError, match=said):
            UpliftRagParameters.from_dict(given)

    check_each(
        [
            ({"unheard": 1}, "unheard"),
            ({"metric": "bleu"}, "metric"),
            ({"feed": 11}, "Selected documents"),
            ({"epochs": 1.5}, "epochs"),
            ({"epochs": True}, "epochs"),
            ({"learning_rate": "fast"}, "learning_rate"),
            ({"methods": ["magic"]}, "methods"),
            ({"methods": "skr"}, "methods"),
            ({"encoder": "somebody/elses"}, "elses"),
            ({"retriever": "dense:somebody/elses"}, "elses"),
            ({"trained": "key"}, "ablations"),
            ({"weight_pair": float("nan")}, "weight_pair"),
        ],
        check,
    )


def test_parameters_are_read_as_they_are_written() -> None:
    made = UpliftRagParameters.from_dict({"methods": ["skr"], "epochs": 3, "ablations": []})
    assert UpliftRagParameters.from_dict(made.to_dict()) == made
    assert json.loads(json.dumps(made.to_dict())) == made.to_dict()
    assert made.compared == ("standard", "skr", "uplift")
    assert UpliftRagParameters().learning == (
        "naive", "standard", "cross_encoder", "aar", "replug", "skr", "adaptive", "dpa",
        "uplift", "without_point", "without_pair", "without_list",
    )  # fmt: skip


ASKED = {"methods": ["naive", "replug", "skr", "adaptive"], "other": "endpoint:odd", "ablations": ["without_selection"]}


@pytest.fixture
def waves(generator, monkeypatch) -> list[int]:
    """How many prompts the generator was handed in each call."""
    seen: list[int] = []
    generate = generator.generate
    monkeypatch.setattr(generator, "generate", lambda prompts: seen.append(len(prompts)) or generate(prompts))
    return seen


def found(run: Run) -> str:
    return json.dumps(
        [[key, data] for key, data in UnitResult.objects.filter(run=run).order_by("key").values_list("key", "data")],
        sort_keys=True,
    )


@pytest.mark.extended
def test_what_many_questions_and_methods_ask_goes_out_together(asked, waves, monkeypatch) -> None:
    run = lifecycle.wait(services.start(asked(**ASKED)))
    together, calls = rows(run), len(waves)
    assert max(waves) >= 5 * 6  # of five questions or more, with five documents each
    # Labels by two models, SKR's training, Adaptive-RAG's steps, answers by two models; each for two splits.
    assert calls <= 2 * (2 + 1 + 5 + 5 + 1)

    # As runs were planned before: a unit a question, and one prompt after the other.
    waves.clear()
    one_by_one = stages.run_steps
    monkeypatch.setattr(
        stages, "run_steps", lambda askings, model, **_: [one_by_one([each], model)[0] for each in askings]
    )
    alone = services.start(asked(**ASKED))
    for unit in Unit.objects.filter(run=alone, payload__has_key="queries"):
        _alone(unit)
    alone = lifecycle.wait(alone)
    assert rows(alone) == together
    assert found(alone) == found(run)
    assert len(waves) > 3 * calls
    assert Unit.objects.filter(run=alone, payload__stage="label").count() == FEW - 1


def _alone(unit: Unit) -> None:
    """Give each question of a unit a unit of its own."""
    about = unit.payload
    for place, name in enumerate(about["queries"]):
        unit.pk = unit.pk if not place else None
        last = Unit.objects.filter(run=unit.run).order_by("-position").values_list("position", flat=True)[0]
        unit.position = unit.position if not place else last + 1
        unit.payload = about | {"queries": [name]}
        unit.save()


@pytest.mark.extended
def test_a_training_that_is_cancelled_goes_on_to_the_same_reranker(asked, monkeypatch, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    given = {"methods": ["naive"], "ablations": [], "epochs": 3}
    whole = lifecycle.wait(services.start(asked(**given)))
    run, said, report = services.start(asked(**given)), [], StageContext.report

    def cancelled_once(self, done, total, message="", **more):
        if message.startswith("epoch"):
            said.append((self.payload["split"], done))
            if len(said) == 2:
                lifecycle.cancel(run=Run.objects.get(pk=run.pk))
                raise kinds.RunCancelledError
        report(self, done, total, message, **more)

    monkeypatch.setattr(StageContext, "report", cancelled_once)
    while worker.work_next(run):
        pass
    run = Run.objects.get(pk=run.pk)
    folder = settings.DATA_DIR / "trainings" / str(run.key)
    assert (run.state, len(said), len(list(folder.iterdir()))) == ("CANCELLED", 2, 1)
    run = lifecycle.wait(lifecycle.resume(run=run))
    steps = [[done for split, done in said if split == each] for each in (0, 1)]
    assert all(done == list(range(1, done[-1] + 1)) for done in steps)  # no step was taken twice
    files = [dict(Artifact.objects.filter(run=each).values_list("name", "sha256")) for each in (whole, run)]
    assert files[0] == files[1] != {}
    # Of a unit that has ended, nothing stays once another one begins; nor of a run that has.
    assert len(list(folder.iterdir())) == 1
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]

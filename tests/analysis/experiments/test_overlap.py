"""Experiments on a server that behaves as vLLM does: overlapping units give the results of one after another."""

import json

import numpy as np
import pytest

from analysis.experiments import services, stage_context
from analysis.experiments.experiment import get
from analysis.experiments.stage_context import CountedGenerator
from analysis.models import ResultTable, UnitResult
from crowdrag.jobs import lifecycle, overlap, run_files
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Attempt, Call, Endpoint
from tests.analysis.rag.fair_rag import planted
from tests.analysis.rag.uplift_rag import planted as uplift_planted
from tests.factories import StudyFactory
from tests.llm.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_broker")]
SLOTS = 16


FAIR = {"retrievers": ["bm25"], "alphas": [1.0, 8.0], "k": 2, "samples": 6, "entailment": "generator"}
UPLIFT = {
    "retriever": "bm25", "retrieve": 4, "feed": 2, "splits": 2, "epochs": 1, "resamples": 100,
    "methods": ["naive", "skr", "replug", "dpa"], "ablations": [],
}  # fmt: skip


@pytest.fixture
def server():
    with ModelServer(slots=SLOTS, seconds=0.02, faults=0.05, answer=f"{planted.__name__}:reply") as running:
        yield running


@pytest.fixture
def order(server, tmp_path):
    """An order of an experiment on twelve questions, for a study of its own."""
    Endpoint.objects.create(
        name="batches", base_url=server.url, model="m", is_local=True, is_allowed=True, concurrency=SLOTS,
        supports_json_schema=True, supports_logprobs=True,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    path = tmp_path / "asked.jsonl"
    with path.open("w") as file:
        for number in range(12):
            query = planted.query(f"q{number}", rng.permutation(["alder", "birch", "noise", "", "cedar"]).tolist())
            documents = [{"id": document.id, "text": document.text} for document in query.documents]
            line = {"id": query.id, "question": query.question, "golden_answers": [*query.answers]}
            file.write(json.dumps(line | {"documents": documents}) + "\n")

    def _order(name, parameters):
        study = StudyFactory(llm_budget=1_000_000)
        upload = run_files.store_upload(study=study, source=path)
        given = {"generator": "endpoint:batches", "collection": {"source": "qa", "upload": upload.pk}}
        return services.order(get(name), study, given | parameters, seed=1)

    return _order


def results(run: Run):
    assert (run.state, run.error, run.problems) == ("DONE", "", [])
    rows = dict(UnitResult.objects.filter(run=run).values_list("key", "data"))
    return rows, dict(ResultTable.objects.filter(run=run).values_list("name", "rows"))


@pytest.mark.extended
@pytest.mark.parametrize("name", ["fair", "uplift"])
def test_results_are_those_of_one_unit_after_another(name, order, server, monkeypatch, tmp_path, settings):
    parameters = FAIR
    if name == "uplift":
        encoder = str(uplift_planted.encoder(tmp_path / "bert"))
        settings.BERTSCORE_MODELS = [encoder]
        parameters = UPLIFT | {"encoder": encoder, "embedder": encoder}
    run = lifecycle.wait(services.start(order(name, parameters)))
    together = results(run)
    calls = Call.objects.count()
    assert server.figures()["faults"] > 0
    assert Attempt.objects.filter(state="ANSWERED").count() == calls == server.figures()["calls"]
    Call.objects.all().delete()  # nothing is answered from the store
    monkeypatch.setattr(overlap, "may_overlap", lambda unit: False)
    # Nor does a question go on before the others have their answers.
    monkeypatch.setattr(
        stage_context, "CountedRollingGenerator", lambda model, _rolling, *more: CountedGenerator(model, *more)
    )
    alone = lifecycle.wait(services.start(order(name, parameters)))
    assert results(alone) == together
    assert Call.objects.count() == calls
    assert run.summary["usage"]["calls"] == alone.summary["usage"]["calls"] == calls

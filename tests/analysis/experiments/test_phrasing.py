"""Methods paragraphs name the model that was asked, and put counts and numbers as people write them."""

import json
import re
from types import SimpleNamespace

import pytest

from analysis.domain import captions
from analysis.domain.charts import uplift as uplift_charts
from analysis.domain.charts.making import Labels
from analysis.domain.experiments import phrasing
from analysis.domain.experiments.fair import methods as fair
from analysis.domain.experiments.self_preference import methods as self_preference
from analysis.domain.experiments.uplift import methods_paragraph as uplift
from analysis.domain.experiments.uplift.parameters import ABLATIONS
from analysis.rag.uplift.baselines.catalogue import FORMS
from crowdrag.llm.models import Endpoint
from tests.analysis.cases import check_each

WRITING = {"fair": fair, "uplift": uplift, "self_preference": self_preference}


@pytest.fixture
def local(db) -> Endpoint:
    return Endpoint.objects.create(name="local", base_url="http://127.0.0.1:1/v1", model="SmolLM2", is_local=True)


def said(experiment: str, rows: dict | None = None, queries: int = 1, **parameters) -> str:
    """The paragraph of a run with these parameters."""
    run = SimpleNamespace(
        parameters={"generator": "endpoint:local", "collection": {}, **parameters}, summary={"queries": queries}, seed=0
    )
    return " ".join(WRITING[experiment].methods(run, rows or {}).paragraphs)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("named", "put"),
    [
        ("endpoint:local", "SmolLM2 (endpoint local)"),
        ("endpoint:local?top_p=0.9&seed=1", "SmolLM2 (endpoint local, top_p=0.9, seed=1)"),
        ("endpoint:gone?seed=1", "endpoint:gone?seed=1"),
        ("model:google/flan-t5-large", "google/flan-t5-large"),
        ("model:/srv/models/flan-t5-xxl?beams=4", "flan-t5-xxl (beams=4)"),
        ("", ""),
        ("what", "what"),
    ],
)
def test_a_model_is_named_as_its_server_calls_it_with_the_endpoint(local, named, put) -> None:
    assert phrasing.model(named) == put


def test_one_thing_is_in_the_singular() -> None:
    def check(number, put) -> None:
        assert phrasing.many(number, "epoch") == put

    check_each([(0, "0 epochs"), (1, "1 epoch"), (2, "2 epochs"), (1000, "1,000 epochs")], check)


def test_numbers_have_no_exponent() -> None:
    def check(number, put) -> None:
        assert phrasing.plainly(number) == put

    check_each([(1e-05, "0.00001"), (1.0, "1"), (0.5, "0.5"), (0, "0"), (2e6, "2000000")], check)


@pytest.mark.parametrize("experiment", WRITING)
def test_every_paragraph_names_the_model_and_counts_one_as_one(local, experiment) -> None:
    ones = {
        "fair": {},
        "uplift": {"epochs": 1, "batch": 1, "patience": 1, "retrieve": 1, "feed": 1, "learning_rate": 1e-5},
        "self_preference": {"tries": 1, "attempts": 1},
    }[experiment]
    paragraph = said(experiment, **ones)
    assert "SmolLM2 (endpoint local)" in paragraph
    assert "endpoint:" not in paragraph
    assert "1 question" in paragraph
    assert not re.search(r"\b1 (questions|epochs|documents|times)\b|\de-\d", paragraph)


def test_fair_says_the_metric_that_was_used_where_none_was_chosen(local) -> None:
    rows = [{"metric": "em", "is_utility": False}, {"metric": "f1", "is_utility": True}]
    assert "answer without any (F1);" in said("fair", {"fair_metrics": rows})
    rows.append({"metric": "rouge_l", "is_utility": True})
    assert "(what the data names for each question: F1, ROUGE-L);" in said("fair", {"fair_metrics": rows})
    assert "(the metric that the data names, else F1);" in said("fair")  # nothing was scored
    assert "(exact match);" in said("fair", metric="em")


def test_captions_call_models_as_the_methods_paragraph_does(local) -> None:
    exchanged = captions.figure("uplift_transfer").caption
    asked = {"generator": "endpoint:local", "other": "model:/srv/models/flan-t5-xxl?beams=4"}
    said_of_it = "This model is SmolLM2 (endpoint local), the other flan-t5-xxl (beams=4)."
    assert said_of_it in phrasing.caption(exchanged, asked)
    assert "This model is –, the other –." in phrasing.caption(exchanged, {})
    assert phrasing.caption("Alpha {alpha}.", {"alpha": 2, **asked}) == "Alpha 2."


def test_uplift_says_ablations_transfer_and_tests(local) -> None:
    whole = said("uplift", other="model:Tiny")
    for name in ABLATIONS:
        assert uplift.ABLATED[name].partition(" (")[0] in whole
    assert "rerankers were trained anew for each loss that was left out" in whole
    assert "exchanged with Tiny, the other model in the tables" in whole
    assert (
        "Differences to standard RAG and of ablations to the whole and of answers with the other model's documents"
        in whole
    )
    assert "Wilcoxon's signed-rank test [@wilcoxon1945], which of exact match is McNemar's [@mcnemar1947]" in whole

    inference = said("uplift", ablations=["without_reranking"])
    assert "one part each: reranking (the retriever's order)." in inference
    assert "exchanged" not in inference
    assert "Ablations" not in said("uplift", ablations=[])


def test_uplift_calls_a_baseline_by_its_papers_name_only_where_all_of_it_answered(local) -> None:
    whole = said("uplift", {"uplift_results": [{"method": "replug_ensemble"}]}, methods=["replug"])
    assert "standard RAG, REPLUG [@shi2024] with" in whole
    assert FORMS["replug_votes"].departs not in whole
    part = said("uplift", {"uplift_results": [{"method": "replug_votes"}]}, methods=["replug"])
    assert f"{FORMS['replug_votes'].label} [@shi2024]" in part
    assert FORMS["replug_votes"].departs in part


def test_charts_and_tables_call_a_baseline_as_its_file_does() -> None:
    def check(key) -> None:
        assert captions.TABLES["uplift_results"].columns[0].words[key] == FORMS[key].label
        made = uplift_charts.results(
            {"uplift_results": [{"method": key, "metric": "f1", "value": 0.5, "low": 0.4, "high": 0.6}]},
            Labels({}, {}), dict.fromkeys(("human", "model", "system", "n"), "#000"), {},
        )  # fmt: skip
        assert json.dumps(FORMS[key].label) in json.dumps(made)

    check_each(FORMS, check)

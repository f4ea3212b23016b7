"""Methods paragraphs name the model that was asked, and put counts and numbers as people write them."""

import json
import re
from types import SimpleNamespace

import pytest

from analysis.experiments import wording
from analysis.experiments.fair_rag import methods_paragraph as fair
from analysis.experiments.self_preference import methods_paragraph as self_preference
from analysis.experiments.uplift_rag import figures as uplift_charts
from analysis.experiments.uplift_rag import methods_paragraph as uplift
from analysis.experiments.uplift_rag.parameters import ABLATIONS
from analysis.figures.figure import FIGURES
from analysis.figures.vega_lite import Labels
from analysis.rag.uplift_rag.baselines.catalogue import FORMS
from analysis.tables.table import TABLES, fill
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
    assert wording.model(named) == put


def test_one_thing_is_in_the_singular_and_numbers_have_no_exponent() -> None:
    counts = {0: "0 epochs", 1: "1 epoch", 2: "2 epochs", 1000: "1,000 epochs"}
    assert {number: wording.many(number, "epoch") for number in counts} == counts
    numbers = {1e-05: "0.00001", 1.0: "1", 0.5: "0.5", 0: "0", 2e6: "2000000"}
    assert {number: wording.plainly(number) for number in numbers} == numbers


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
    assert not re.search(r"\de-\d", paragraph)


def test_fair_says_the_metric_that_was_used_where_none_was_chosen(local) -> None:
    rows = [{"metric": "em", "is_utility": False}, {"metric": "f1", "is_utility": True}]
    one = said("fair", {"fair_metrics": rows})
    rows.append({"metric": "rouge_l", "is_utility": True})
    assert ("F1" in one, "ROUGE-L" in one) == (True, False)
    assert "F1, ROUGE-L" in said("fair", {"fair_metrics": rows})
    assert "F1" in said("fair")  # nothing was scored
    assert "F1" not in said("fair", metric="em")


def test_captions_call_models_as_the_methods_paragraph_does(local) -> None:
    exchanged = FIGURES["uplift_transfer"].caption
    asked = {"generator": "endpoint:local", "other": "model:/srv/models/flan-t5-xxl?beams=4"}
    named = fill(exchanged, wording.caption_parameters(asked))
    assert "SmolLM2 (endpoint local)" in named
    assert "flan-t5-xxl (beams=4)" in named
    assert fill(exchanged, wording.caption_parameters({})) != named


def test_uplift_says_ablations_transfer_and_tests(local) -> None:
    whole = said("uplift", other="model:Tiny")
    for name in ABLATIONS:
        assert uplift.ABLATED[name].partition(" (")[0] in whole
    for named in ("Tiny", "@wilcoxon1945", "@mcnemar1947"):
        assert named in whole
    alone, none = (said("uplift", ablations=some) for some in (["without_reranking"], []))
    assert uplift.ABLATED["without_reranking"] in alone
    assert uplift.ABLATED["without_pair"].partition(" (")[0] not in alone
    assert "Tiny" not in alone
    assert uplift.ABLATED["without_reranking"] not in none


def test_uplift_calls_a_baseline_by_its_papers_name_only_where_all_of_it_answered(local) -> None:
    whole = said("uplift", {"uplift_results": [{"method": "replug_ensemble"}]}, methods=["replug"])
    assert f"{FORMS['replug_ensemble'].label} [@shi2024]" in whole
    assert FORMS["replug_votes"].departs not in whole
    part = said("uplift", {"uplift_results": [{"method": "replug_votes"}]}, methods=["replug"])
    assert f"{FORMS['replug_votes'].label} [@shi2024]" in part
    assert FORMS["replug_votes"].departs in part


def test_charts_and_tables_call_a_baseline_as_its_file_does() -> None:
    def check(key) -> None:
        assert TABLES["uplift_results"].columns[0].words[key] == FORMS[key].label
        made = uplift_charts.results(
            {"uplift_results": [{"method": key, "metric": "f1", "value": 0.5, "low": 0.4, "high": 0.6}]},
            Labels({}, {}), dict.fromkeys(("human", "model", "system", "n"), "#000"), {},
        )  # fmt: skip
        assert json.dumps(FORMS[key].label) in json.dumps(made)

    check_each(FORMS, check)

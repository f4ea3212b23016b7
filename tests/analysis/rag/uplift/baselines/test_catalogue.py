"""What baselines say of themselves: names that keep their meaning, and a paper's name only where all of it is there."""

from pathlib import Path

from analysis.rag.uplift.baselines import catalogue
from analysis.rag.uplift.baselines.catalogue import BASELINES, FORMS
from tests.analysis.cases import check_each

DOCS = Path(__file__).parents[5] / "docs" / "methods" / "uplift-baselines.md"
#: What rows of stored runs call methods, and what people read of them: this never changes.
STORED = {
    "naive": "Naive generation",
    "standard": "Standard RAG",
    "cross_encoder": "Cross-encoder",
    "aar": "after AAR (linear adapter)",
    "replug": "after REPLUG (ensemble or votes)",
    "replug_ensemble": "REPLUG",
    "replug_likelihoods": "after REPLUG (likelihoods of generated answers)",
    "replug_votes": "after REPLUG (votes of answers)",
    "skr": "SKR",
    "adaptive": "after Adaptive-RAG (logistic regression)",
    "aar_contrastive": "AAR",
    "adaptive_classifier": "Adaptive-RAG",
    "dpa_reranker": "after DPA-RAG (reranker only)",
    "dpa": "after DPA-RAG (reranker and an instruction)",
}


def test_rows_of_stored_runs_keep_their_labels():
    assert {key: FORMS[key].label for key in STORED} == STORED


def test_a_papers_name_stands_alone_only_where_nothing_is_missing():
    def check(name):
        baseline = BASELINES[name]
        assert baseline.forms[-1].key == name
        for form in baseline.forms:
            assert bool(form.departs) == form.label.startswith(f"after {baseline.title} (")
            assert form.departs or form.label == baseline.title

    check_each(BASELINES, check)


def test_no_two_forms_share_a_key_or_a_label():
    forms = [form for each in BASELINES.values() for form in each.forms]
    assert len(FORMS) == len(forms) == len({form.label for form in forms})


def test_answers_of_several_forms_have_the_name_of_the_least():
    assert catalogue.least("replug", ["replug_ensemble", "replug_ensemble"]).key == "replug_ensemble"
    assert catalogue.least("replug", ["replug_ensemble", "replug_votes"]).key == "replug_votes"
    assert catalogue.least("replug", ["", "replug_ensemble"]).key == "replug"
    assert catalogue.least("replug", []).key == "replug_ensemble"


def test_the_documentation_has_each_form_as_it_is():
    def check(key):
        form = FORMS[key]
        assert f"| `{key}` | {form.label} | {form.departs} |" in DOCS.read_text(encoding="utf-8")

    check_each(FORMS, check)

"""What an uplift run's tables say beside the answers: refusals, documents' length, cases, what memory did not hold."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.experiments import runs, services
from analysis.experiments.experiment import BadParameterError
from analysis.experiments.uplift_rag import compute, outcomes, questions
from analysis.experiments.uplift_rag.parameters import UpliftRagParameters
from analysis.rag.generation import loader
from analysis.rag.protocols import Document, Output, Prompt
from analysis.rag.uplift_rag.baselines import dpa_trainer
from analysis.rag.uplift_rag.uplift_labels import read, reference
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from tests.analysis.experiments.uplift_rag.test_run import FEW, asked, encoder, generator, one, rows  # noqa: F401 - fixtures
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch
from tests.analysis.rag.uplift_rag import planted


class Refusing(planted.Planted):
    """Refuses prompts with a word."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word = word

    def _answer(self, prompt: Prompt) -> Output:
        if self.word in " ".join(each.content for each in prompt.messages):
            return Output("", prompt_tokens=9, error="refused")
        return super()._answer(prompt)


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_refusals_of_both_models_are_counted_and_what_does_not_fit_keeps_no_other_back(
    asked,  # noqa: F811
    monkeypatch,
) -> None:
    models = {"": Refusing("winter"), "endpoint:odd": Refusing("silver")}
    monkeypatch.setattr(runs, "generator", lambda run, named="": models[named])

    def full(*_anything) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(dpa_trainer.Objectives, "gradients", full)
    methods = ["naive", "replug", "dpa"]
    run = lifecycle.wait(services.start(asked(methods=methods, ablations=[], other="endpoint:odd", precision="half")))
    found = rows(run)

    # The tables' counts, from what was asked.
    answered = {row["method"]: row["refused"] for row in found["uplift_inputs"]}
    counts = {row["name"]: row["count"] for row in found["uplift_counts"]}
    stored = _unit_results(run)
    for name, field in (("refused", None), ("refused_other", "other")):
        said = [each[field] if field else each for each in stored["label"].values()]
        word = "winter" if field is None else "silver"
        assert counts[name] == sum(each["refused"] for each in said) == _prompts_with(found, asked, word) > 0
    assert counts["refused_answers"] == sum(answered.values()) > 0
    assert set(answered) == {"naive", "standard", "replug_votes", "dpa_reranker", "uplift", "upper_bound"}
    exchanged = [each for said in stored["answer"].values() for each in said["transfer"].values()]
    assert counts["refused_transfer"] == sum(each["refused"] for each in exchanged)

    # DPA-RAG did not fit; the others were answered.
    assert one(found["uplift_results"], method="dpa_reranker", metric="em")["note"]
    assert answered["dpa_reranker"] == 0
    assert one(found["uplift_results"], method="uplift", metric="em")["n"] == FEW - 1

    _check_inputs(found)
    _check_examples(found, run)


def _unit_results(run) -> dict[str, dict]:
    from analysis.experiments import unit_results

    return {
        stage: {key.removeprefix(f"{stage}:"): data for key, data in unit_results.read(run, f"{stage}:").items()}
        for stage in ("label", "answer")
    }


def _prompts_with(found, asked, word: str) -> int:  # noqa: F811
    """How many prompts of the labels hold a word: those of the planted questions that take part."""
    count = 0
    for place, query in enumerate(planted.queries(FEW, np.random.default_rng(0), documents=5)):
        if place == 1:
            continue
        documents = query.documents[:1] if place == 2 else query.documents
        count += sum(word in f"{query.question} {text}" for text in ("", *(each.text for each in documents)))
    return count


def _check_inputs(found: dict[str, list[dict]]) -> None:
    for row in found["uplift_inputs"]:
        if row["n"]:
            assert row["counted"] == "words"
            assert row["document_tokens"] < row["prompt_tokens"]
    standard, naive = (one(found["uplift_inputs"], method=name) for name in ("standard", "naive"))
    assert (standard["document_ratio"], naive["document_ratio"]) == (1, 0)
    assert naive["prompt_tokens"] > 0 == naive["document_tokens"]


def _check_examples(found: dict[str, list[dict]], run) -> None:
    told = found["uplift_examples"]
    queries = list(dict.fromkeys(row["query"] for row in told))
    assert len(queries) == compute.MOST
    assert queries == [
        each for each in dict.fromkeys(row["query"] for row in found["uplift_answers"]) if each in queries
    ]
    by_answer = {(row["query"], row["method"]): row for row in found["uplift_answers"]}
    for row in told:
        assert row["question"].split()[0] == "which"
        assert row["answers"] == f"answer {row['query']}"
        said = by_answer[row["query"], row["method"]]
        assert (row["answer"], row["em"], row["f1"]) == (said["answer"], said["em"], said["f1"])
        handed = row["documents"].split(compute.BETWEEN) if row["documents"] else []
        assert len(handed) == said["documents"]
        if row["method"] == "upper_bound":
            assert set(handed) == set(row["helpful"].split(compute.BETWEEN) if row["helpful"] else [])


def test_peoples_responses_are_not_repeated_among_cases() -> None:
    query = replace(planted.queries(1, np.random.default_rng(0))[0], answers=("what somebody wrote",))
    labelled = read(query, query.documents, [Output("a")] * (len(query.documents) + 1))
    of = outcomes.Outcomes((labelled,), ({},), ({"naive": {"text": "a", "documents": []}},), (0,), {})
    (row,) = compute.examples(of, ["naive", "dpa"], np.random.default_rng(0), of_people=True)
    assert "somebody" not in str(row)
    assert row["note"]
    (row,) = compute.examples(of, ["naive"], np.random.default_rng(0), of_people=False)
    assert row["answers"] == "what somebody wrote"
    topics, file = (Run(parameters={"collection": {"source": source}}) for source in ("study", "qa"))
    assert (questions.is_of_people(topics), questions.is_of_people(file)) == (True, False)


def test_documents_are_counted_in_the_tokens_of_a_model_in_this_process(tmp_path, settings) -> None:
    folder = str(tiny.gpt2(tmp_path / "gpt2"))
    settings.GENERATOR_MODELS = [folder]
    document = Document("1", "the cat sat on the mat", title="A cat")
    count, unit = compute.counter({"generator": f"model:{folder}?beams=2"})
    tokenizer = loader.tokenizer(folder)
    assert unit == "tokens"
    assert count(document) == len(tokenizer(reference([document]))["input_ids"]) != len(reference([document]).split())
    for named in ("endpoint:any", "model:nobody/has-it", ""):
        count, unit = compute.counter({"generator": named})
        assert (count(document), unit) == (10, "words")


def test_the_settings_of_a_run_reach_all_that_is_trained(settings, encoder) -> None:  # noqa: F811
    settings.BERTSCORE_MODELS = [encoder]
    given = {"longest": 77, "warm_up": 0.2, "patience": 4, "precision": "half"}
    made = UpliftRagParameters.from_dict(given).settings(0)
    assert SimpleNamespace(**{name: getattr(made, name) for name in given}) == SimpleNamespace(**given)
    assert UpliftRagParameters().settings(0).patience is None
    with pytest.raises(BadParameterError):
        UpliftRagParameters.from_dict({"precision": "double"})

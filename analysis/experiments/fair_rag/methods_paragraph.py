"""The methods paragraph of a fair RAG run, ready for a paper. English whatever the page's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowdrag.jobs.models import Run

from ...reports import bibliography
from ...reports.types import Methods
from ...tables.rows import Row
from .. import wording
from ..entailment_models import GENERATOR
from ..experiment import COMMON
from .parameters import DEFAULT_METRIC, FairRagParameters

METRICS = {
    "": f"the metric that the data names, else {DEFAULT_METRIC.upper()}", "em": "exact match", "f1": "F1",
    "accuracy": "accuracy", "mae": "4 less the absolute error", "mse": "16 less the squared error",
    "rouge_1": "ROUGE-1", "rouge_l": "ROUGE-L",
}  # fmt: skip
BOUNDS = {
    "published": "as by the authors' code: targets of 0 for documents that are not useful, EE-D between 0 and k, and "
    "EE-R between 0 and m + (k - m)^2 / (n - m) for m useful of n documents, k^2 / m where m > k",
    "definition": "with the paper's targets (equation 6), EE-D between k^2 / n and k, and EE-R between 0 and its "
    "greatest value",
    "infinite": "in the limit of infinitely many documents: targets of 0 for documents that are not useful, EE-D "
    "between 0 and k, and EE-R between 0 and m, k^2 / m where m > k",
    "tight": "with the paper's targets (equation 6), between the least and the greatest values that rankings can reach",
}


def methods(run: Run, rows: Mapping[str, list[Row]]) -> Methods:
    """Write what the run did."""
    parameters = FairRagParameters.from_dict(
        {name: value for name, value in run.parameters.items() if name not in COMMON}
    )
    paragraph = " ".join(_sentences(run, parameters, rows))
    return Methods((paragraph,), bibliography.cited((paragraph,)))


def _sentences(run: Run, parameters: FairRagParameters, rows: Mapping[str, list[Row]]) -> Iterable[str]:
    taking = sum(row["queries"] for row in rows.get("fair_left_out", []) if not row["reason"])
    questions = wording.many(run.summary.get("queries", taking), "question")
    retrievers = ", ".join(parameters.retrievers)
    alphas = ", ".join(map(wording.plainly, parameters.alphas))
    yield (
        f"Following Kim and Diaz [@kim2025], we asked {wording.model(run.parameters.get('generator', ''))} "
        f"{questions}. "
        "A document counted as useful if the answer with it alone scored higher than the answer without any "
        f"({_metric(parameters, rows)}); {wording.many(taking, 'question')} had two useful documents or more and "
        "took part."
    )
    yield (
        f"Retrievers were {retrievers}. Their scores, brought into [1, 2] by question and raised to the power alpha "
        f"({alphas}), were the logits of a Plackett-Luce model, of which {parameters.samples} rankings a question "
        f"were drawn and cut after {parameters.k} documents; beside them stood each retriever's own ranking, and "
        f"{parameters.samples} of an oracle that ranks useful documents above the others."
    )
    yield _generated(parameters)
    if parameters.entailment:
        claim = "the answer" if parameters.claim == "answer" else "the question with its answer"
        by = (
            "the generator itself, asked for yes or no,"
            if parameters.entailment == GENERATOR
            else parameters.entailment
        )
        yield f"A document was attributed if {by} found that {claim} follows from it."
    yield (
        f"Expected exposure [@diaz2020] was normalised {BOUNDS[parameters.bounds]}. Expected utility was divided "
        "by the best utility seen for the question in any ranking, the oracle's among them."
    )
    yield (
        f"Intervals are 95 % bootstrap intervals over {parameters.resamples:,} resamples of questions "
        f"[@hesterberg2015]; utility "
        "by interval of disparity was compared with the deterministic ranking by Student's unpaired t-test, disparity "
        "between alphas by the paired one, and p-values were adjusted for the false discovery rate within each table "
        f"[@benjamini1995]. The seed was {run.seed}."
    )


def _metric(parameters: FairRagParameters, rows: Mapping[str, list[Row]]) -> str:
    """The metric that measured utility; the requested one where nothing was scored."""
    used = {row["metric"] for row in rows.get("fair_metrics", []) if row["is_utility"]}
    metrics = [title for name, title in METRICS.items() if name in used]
    if parameters.metric or not metrics:
        return METRICS[parameters.metric]
    return metrics[0] if len(metrics) == 1 else f"what the data names for each question: {', '.join(metrics)}"


def _generated(parameters: FairRagParameters) -> str:
    if not parameters.lists_per_query:
        return "Each distinct list was generated once, at temperature 0."
    return (
        f"Of the distinct lists of a question {parameters.lists_per_query} at most were generated, once, at "
        "temperature 0, "
        "drawn without replacement in proportion to how often they were sampled; means over them are weighed by the "
        "inverse of their probabilities [@horvitz1952], and their standard errors stand beside them."
    )

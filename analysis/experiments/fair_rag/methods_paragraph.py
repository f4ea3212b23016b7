"""The methods paragraph of a fair RAG run, ready for a paper. Always in English."""

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
    "": f"the metric named in the data, otherwise {DEFAULT_METRIC.upper()}", "em": "exact match", "f1": "F1",
    "accuracy": "accuracy", "mae": "4 minus the absolute error", "mse": "16 minus the squared error",
    "rouge_1": "ROUGE-1", "rouge_l": "ROUGE-L",
}  # fmt: skip
BOUNDS = {
    "published": "as by the authors' code: targets of 0 for documents that are not useful, EE-D between 0 and k, and "
    "EE-R between 0 and m + (k - m)^2 / (n - m) for m useful of n documents, k^2 / m where m > k",
    "definition": "with the paper's targets (equation 6), EE-D between k^2 / n and k, and EE-R between 0 and its "
    "maximum",
    "infinite": "in the limit of infinitely many documents: targets of 0 for documents that are not useful, EE-D "
    "between 0 and k, and EE-R between 0 and m, k^2 / m where m > k",
    "tight": "with the paper's targets (equation 6), between the minimum and maximum values that rankings can reach",
}


def methods(run: Run, rows: Mapping[str, list[Row]]) -> Methods:
    """Return the methods paragraph of a run, with its references."""
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
        "A document counted as useful if the answer with it alone scored higher than the answer without documents "
        f"({_metric(parameters, rows)}). {wording.many(taking, 'question')} had two useful documents or more and "
        "took part."
    )
    yield (
        f"Retrievers were {retrievers}. Their scores were rescaled to [1, 2] for each question, raised to the power "
        f"alpha ({alphas}), and used as the logits of a Plackett-Luce model. From it we sampled {parameters.samples} "
        f"rankings per question, cut after {parameters.k} documents. We also used each retriever's own ranking, and "
        f"{parameters.samples} rankings of an oracle that ranks useful documents above the others."
    )
    yield _generated(parameters)
    if parameters.entailment:
        claim = "the answer" if parameters.claim == "answer" else "the question with its answer"
        by = (
            "the generator itself, prompted for yes or no,"
            if parameters.entailment == GENERATOR
            else parameters.entailment
        )
        yield f"A document was attributed if {by} found that {claim} follows from it."
    yield (
        f"Expected exposure [@diaz2020] was normalised {BOUNDS[parameters.bounds]}. Expected utility was divided "
        "by the best utility for the question in any ranking, including the oracle's."
    )
    yield (
        f"Intervals are 95 % bootstrap intervals over {parameters.resamples:,} resamples of questions "
        f"[@hesterberg2015]. We compared utility by interval of disparity with the deterministic ranking by Student's "
        "unpaired t-test, and disparity between alphas by the paired t-test. p-values were adjusted for the false "
        f"discovery rate within each table [@benjamini1995]. The seed was {run.seed}."
    )


def _metric(parameters: FairRagParameters, rows: Mapping[str, list[Row]]) -> str:
    """The metric of utility; the requested metric if nothing was scored."""
    used = {row["metric"] for row in rows.get("fair_metrics", []) if row["is_utility"]}
    metrics = [title for name, title in METRICS.items() if name in used]
    if parameters.metric or not metrics:
        return METRICS[parameters.metric]
    return metrics[0] if len(metrics) == 1 else f"the metric named in the data for each question: {', '.join(metrics)}"


def _generated(parameters: FairRagParameters) -> str:
    if not parameters.lists_per_query:
        return "Each distinct list was generated once, at temperature 0."
    return (
        f"At most {parameters.lists_per_query} distinct lists of a question were generated, once, at temperature 0. "
        "They were drawn without replacement in proportion to how often they were sampled. Means "
        "over them are weighted "
        "by inverse probabilities [@horvitz1952] and reported with standard errors."
    )

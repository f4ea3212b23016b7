"""The methods paragraph of an uplift RAG run, ready for a paper. English whatever the page's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowdrag.runs.models import Run

from ...reports import citing
from ...reports.shape import Methods
from ...results.schema import Row
from ...similarity import choosing
from ..experiment import COMMON
from . import questions
from .parameters import STANDARD, Parameters

METRICS = {"em": "exact match", "f1": "F1"}
#: What is said of each method, and by whom it is.
PEERS = {
    "naive": "naive generation",
    "standard": "standard RAG",
    "cross_encoder": "a cross-encoder reranker of relevance",
    "aar": "AAR [@yu2023]",
    "replug": "REPLUG [@shi2024]",
    "skr": "SKR [@wang2023]",
    "adaptive": "Adaptive-RAG [@jeong2024]",
    "dpa": "DPA-RAG [@dong2025]",
}


def methods(run: Run, rows: Mapping[str, list[Row]]) -> Methods:
    """Write what the run did."""
    own = Parameters.from_dict({name: value for name, value in run.parameters.items() if name not in COMMON})
    paragraph = " ".join(filter(None, _sentences(run, own, rows)))
    return Methods((paragraph,), citing.cited((paragraph,)))


def _sentences(run: Run, own: Parameters, rows: Mapping[str, list[Row]]) -> Iterable[str]:
    counts = {row["name"]: row["count"] for row in rows.get("uplift_counts", [])}
    taking = counts.get("questions", run.summary.get("queries", 0))
    yield (
        f"Following Qu et al. [@qu2025], {run.parameters.get('generator', '')} answered {taking} questions without "
        f"documents and with each of the first {own.retrieve} documents that {own.retriever} ranked, alone. A "
        f"document's uplift is the {METRICS[own.metric]} of the answer with it less that of the answer without."
    )
    yield _trained(own)
    watched = f", one of which was held out to stop after {own.patience} epochs without a lower loss"
    watched = watched if own.patience else ""
    yield (
        f"Questions were divided into {own.splits} folds by a digest of their ids, before anything was trained; each "
        f"was answered by what the other folds trained{watched}."
    )
    yield from _strangers(run)
    peers = [said for name, said in PEERS.items() if name in own.compared]
    more = " (Adaptive-RAG with more where it retrieved several times)" if "adaptive" in own.compared else ""
    yield (
        f"Documents with a probability above {own.threshold:g} were handed over, the likeliest first; where there was "
        f"none, the prompt had no documents. Beside it stood {', '.join(peers)} with {own.feed} documents at "
        f"most{more}, and the upper bound, which hands over exactly the documents with a positive uplift."
    )
    yield (
        f"Differences to {PEERS[STANDARD]} are paired by question, with 95 % percentile intervals over "
        f"{own.resamples:,} resamples of questions [@efron1993] and Wilcoxon's signed-rank test; p-values were "
        f"adjusted for the false discovery rate within each table [@benjamini1995]. Intervals and tests are "
        f"conditional on the trained rerankers, one a fold. The seed was {run.seed}."
    )


def _strangers(run: Run) -> Iterable[str]:
    """How documents of other questions were drawn, and what folds have in common."""
    others = questions.strangers(run)
    beside = (
        f"Beside its own each question had {others} documents of other questions, drawn at random" if others else ""
    )
    if questions.is_apart(run):
        yield f"{beside} among those of its own fold." if beside else ""
        yield "Documents whose text a tested question has, too, were left out of what was learnt for its fold."
    elif beside:
        yield f"{beside} from all folds, so that documents of tested questions stood among those learnt from."


def _trained(own: Parameters) -> str:
    if own.trained:
        return f"The rerankers are those of the run {own.trained}."
    encoder = choosing.choose(own.encoder).model
    return (
        f"A reranker of two logits on {encoder} learnt from the uplift by the sum of the pointwise (weight "
        f"{own.weight_point:g}), pairwise ({own.weight_pair:g}) and listwise loss, in {own.epochs} epochs at most at a "
        f"learning rate of {own.learning_rate:g} that falls linearly, {own.batch} questions a step."
    )

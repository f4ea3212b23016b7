"""The methods paragraph of an uplift RAG run, ready for a paper. Always in English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analysis.rag.uplift_rag.baselines import catalogue
from analysis.rag.uplift_rag.baselines.catalogue import BASELINES
from analysis.rag.uplift_rag.baselines.protocol import Baseline, Form
from analysis.rag.uplift_rag.variants import VARIANTS
from crowdrag.jobs.models import Run

from ...methods.reference_metrics import encodings
from ...reports import bibliography
from ...reports.types import Methods
from ...tables.rows import Row
from .. import wording
from ..experiment import COMMON
from . import questions
from .parameters import STANDARD, UpliftRagParameters

METRICS = {"em": "exact match", "f1": "F1"}
#: The part that each ablation removes.
ABLATED = {
    "without_point": "the pointwise loss",
    "without_pair": "the pairwise loss",
    "without_list": "the listwise loss",
    "without_selection": "selection (the top {feed}, whatever their probability)",
    "without_reranking": "reranking (the retriever's order)",
}


def methods(run: Run, rows: Mapping[str, list[Row]]) -> Methods:
    """Return the methods paragraph of a run, with its references."""
    parameters = UpliftRagParameters.from_dict(
        {name: value for name, value in run.parameters.items() if name not in COMMON}
    )
    paragraph = " ".join(filter(None, _sentences(run, parameters, rows)))
    return Methods((paragraph,), bibliography.cited((paragraph,)))


def _sentences(run: Run, parameters: UpliftRagParameters, rows: Mapping[str, list[Row]]) -> Iterable[str]:
    counts = {row["name"]: row["count"] for row in rows.get("uplift_counts", [])}
    taking = counts.get("questions", run.summary.get("queries", 0))
    generator = wording.model(run.parameters.get("generator", ""))
    yield (
        f"Following Qu et al. [@qu2025], {generator} answered {wording.many(taking, 'question')} without documents "
        f"and with each of the first {wording.many(parameters.retrieve, 'document')} that {parameters.retriever} "
        "ranked, alone. A "
        f"document's uplift is the {METRICS[parameters.metric]} of the answer with it minus that of the answer without."
    )
    yield _trained(parameters)
    yield _divided(parameters, counts)
    yield from _strangers(run)
    forms = _forms(parameters, rows)
    beside = [_cited(form, BASELINES[name]) for name, form in forms.items()]
    more = " (more where documents were retrieved several times)" if "adaptive" in forms else ""
    yield (
        "Uplift RAG selects documents with a probability above "
        f"{wording.plainly(parameters.threshold)}, highest first. "
        f"Without such documents, the prompt has none. We compared it with {', '.join(beside)} with at most "
        f"{wording.many(parameters.feed, 'document')}{more}, and with the upper bound, which selects exactly the "
        "documents with a positive uplift."
    )
    yield from (f"{form.label[0].upper()}{form.label[1:]}: {form.departs}" for form in forms.values() if form.departs)
    yield _ablated(parameters)
    yield _exchanged(parameters)
    yield _tested(parameters)
    yield f"The seed was {run.seed}."


def _divided(parameters: UpliftRagParameters, counts: Mapping[str, int]) -> str:
    """The questions used for training, development and test."""
    waited = wording.many(parameters.patience, "epoch")
    if "train" in counts:
        chosen = f"{wording.many(counts['dev'], 'development question')} selected the epoch" if counts["dev"] else ""
        stopped = f" and stopped training after {waited} without a lower loss" if chosen and parameters.patience else ""
        division = "We kept the published split. Trained methods learnt from "
        division += wording.many(counts["train"], "training question")
        return (
            f"{division}, {chosen}{stopped}, and only test questions were answered."
            if chosen
            else (f"{division}, and only test questions were answered.")
        )
    watched = (
        f", one of which was held out for early stopping after {waited} without a lower loss"
        if parameters.patience
        else ""
    )
    return (
        f"Questions were divided into {parameters.splits} folds by a digest of their IDs before training. "
        f"Each question was answered by methods trained on the other folds{watched}."
    )


def _forms(parameters: UpliftRagParameters, rows: Mapping[str, list[Row]]) -> dict[str, Form]:
    """The form of each baseline that answered, according to the rows."""
    keys = {str(row["method"]) for row in rows.get("uplift_results", [])}
    forms = {}
    for name in parameters.compared:
        if name in BASELINES:
            forms[name] = catalogue.least(name, keys & {form.key for form in BASELINES[name].forms})
    return forms


def _cited(form: Form, baseline: Baseline) -> str:
    return f"{form.in_sentence} [@{baseline.work.key}]" if baseline.work else form.in_sentence


def _strangers(run: Run) -> Iterable[str]:
    """How documents of other questions were sampled, and what folds have in common."""
    others = questions.strangers(run)
    beside = f"Each question also had {others} documents of other questions, sampled at random" if others else ""
    if questions.is_apart(run):
        yield f"{beside} from its own fold." if beside else ""
        nearly = " (or that share half of their word 8-grams)" if questions.is_near_apart(run) else ""
        yield (
            f"Documents with the same text as a document of a tested question{nearly} were excluded "
            "from training for its fold."
        )
    elif beside:
        yield f"{beside} from all folds, so training documents include documents of tested questions."


def _trained(parameters: UpliftRagParameters) -> str:
    if parameters.trained:
        return f"The rerankers are those of the run {parameters.trained}."
    encoder = encodings.choose_model(parameters.encoder).model
    return (
        f"A reranker with two logits on {encoder} was trained on the uplift with the sum of the pointwise (weight "
        f"{wording.plainly(parameters.weight_point)}), pairwise ({wording.plainly(parameters.weight_pair)}) and "
        f"listwise loss, for at most {wording.many(parameters.epochs, 'epoch')}, with a linearly decreasing "
        f"learning rate of {wording.plainly(parameters.learning_rate)} and "
        f"{wording.many(parameters.batch, 'question')} per step."
    )


def _ablated(parameters: UpliftRagParameters) -> str:
    """The ablations; only ablations of losses train their own rerankers."""
    if not parameters.ablations:
        return ""
    left_out = ", ".join(
        ABLATED[name].format(feed=wording.many(parameters.feed, "document")) for name in parameters.ablations
    )
    is_trained = any(VARIANTS[name].without for name in parameters.ablations)
    anew = ". Rerankers were retrained for each omitted loss" if is_trained else ""
    return f"Each ablation of uplift RAG omits one part: {left_out}{anew}."


def _exchanged(parameters: UpliftRagParameters) -> str:
    """The two models that exchanged helpful documents."""
    if not parameters.other:
        return ""
    return (
        f"Documents were exchanged with {wording.model(parameters.other)} (the other model in the tables), for which "
        "the same documents were labelled. Each of the two models answered with the documents "
        "that help itself and with "
        "those that help the other."
    )


def _tested(parameters: UpliftRagParameters) -> str:
    """The comparisons and their tests."""
    against = [f"to {BASELINES[STANDARD].forms[0].in_sentence}"]
    against += ["of ablations to the full method"] if parameters.ablations else []
    against += ["of answers with the other model's documents to those with a model's own"] if parameters.other else []
    return (
        f"Differences {' and '.join(against)} are paired by question, with 95 % bootstrap intervals over "
        f"{parameters.resamples:,} resamples of questions [@hesterberg2015] and Wilcoxon's signed-rank test "
        f"[@wilcoxon1945]. For exact match, this is McNemar's test [@mcnemar1947], because all differences have the "
        "same size. p-values were adjusted for the false discovery rate within each table "
        "[@benjamini1995]. Intervals and "
        "tests are conditional on the trained rerankers, one per fold."
    )

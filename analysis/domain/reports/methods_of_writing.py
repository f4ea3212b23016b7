"""What a run did with the texts: sentences of the methods paragraph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .methods import Facts

_METRICS = {
    "bleu": "sentence-BLEU [@post2018]",
    "rouge_l": "ROUGE-L F1 with stemming [@lin2004]",
    "bertscore": "BERTScore F1 [@zhang2020]",
}


def _lengths(facts: Facts) -> str:
    if not facts.has("responses"):
        return ""
    return (
        f"Words are separated by spaces; responses under {facts.settings.min_words} words are taken for non-responses "
        "and left out "
        "of statistics of length. A statement is the text before a citation marker, with the passages that the marker "
        "names."
    )


def _overlap(facts: Facts) -> str:
    said = []
    if facts.measured("citation_overlap", "jaccard"):
        said.append("the Jaccard coefficient of the sets of passages that two responses cite")
    if facts.measured("citation_order", "rho"):
        said.append("Spearman's rho between positions of the passages that both hold [@spearman1904]")
    if facts.measured("citation_ranks", "probability"):
        said.append("the probability that the passage at a rank is cited")
    return f"The choice of passages is described by {enumerated(said)}." if said else ""


def _reuse(facts: Facts) -> str:
    if not facts.has("text_reuse"):
        return ""
    return (
        "Text reuse is the lower-cased sentence-BLEU of a statement against the lines of each passage that it cites, "
        "with n-grams of "
        "up to eight words and effective order [@post2018]."
    )


def _readability(facts: Facts) -> str:
    told = "readability" not in facts.names or facts.measured("readability", "value")
    return "Readability is Flesch's reading ease [@flesch1948]." if facts.has("responses") and told else ""


def _process(facts: Facts) -> str:
    told = "writing_process_means" not in facts.names or facts.measured("writing_process_means", "value")
    if not (facts.has("writing_process") and told):
        return ""
    return (
        "From the writing logs we measured time, pauses, bursts, revisions, and the share of the text that was pasted."
    )


def _metrics(facts: Facts) -> str:
    found = [_METRICS.get(each, each) for each in facts.values("reference_metrics", "metric", "rho")]
    if encoder := facts.summary.get("bertscore"):
        found = [f"{each} (embeddings of {encoder})" if each == _METRICS["bertscore"] else each for each in found]
    if not found:
        return ""
    return (
        f"As reference-based metrics we computed {enumerated(found)} of each response against the best-graded "
        "response of its "
        "topic, and compared the ranking by metric with that by grades by Spearman's rho, averaged over topics "
        "[@spearman1904]."
    )


WRITING: tuple[Callable[[Facts], str], ...] = (_lengths, _overlap, _reuse, _readability, _process, _metrics)


def enumerated(parts: Sequence[str]) -> str:
    """Join parts as a sentence does: a, b, and c."""
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"

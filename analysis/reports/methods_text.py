"""The methods text: what a run did, with its parameters, ready for a paper.

Always in English: authors of a paper in another language should translate it themselves. Every sentence is generated
from the run's parameters, its tables and the constants of the functions used, so that it cannot be wrong. Each method
declares its own sentences; this module has those about the whole run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..methods.method import Paragraph
from ..methods.registry import METHODS
from ..methods.run_facts import RunFacts, Sentence
from ..methods.settings import REFIT, TOPICS_AND_WORKERS
from . import bibliography
from .types import Methods

CONDITIONAL = "conditional on the fitted competences"
#: Tables of agreement whose rows may have intervals.
AGREEMENT = ("agreement", "agreement_means", "agreement_ac1")
POOLS = {"CROWD": "the crowd", "EXPERT": "experts", "MODEL": "language models"}


def methods(facts: RunFacts) -> Methods:
    """Describe what a run did."""
    parts = [_sentences(paragraph) for paragraph in Paragraph]
    parts[0] = (describe_data, describe_votes, *parts[0])
    written = [_paragraph(sentences, facts) for sentences in (*parts, (describe_intervals, describe_software))]
    paragraphs = tuple(paragraph for paragraph in written if paragraph)
    return Methods(paragraphs, bibliography.cited(paragraphs))


def _sentences(paragraph: Paragraph) -> tuple[Sentence, ...]:
    """Return the sentences of all methods for a paragraph, in the order of the methods."""
    return tuple(
        sentence for method in METHODS if method.section.paragraph is paragraph for sentence in method.sentences
    )


def _paragraph(sentences: Iterable[Sentence], facts: RunFacts) -> str:
    return " ".join(text for sentence in sentences if (text := sentence(facts)))


def describe_data(facts: RunFacts) -> str:
    """Describe the analysed data."""
    sums = facts.summary
    topics = _count(sums, "topics", "topic")
    if not facts.is_judged:
        figures = {row["name"]: row["value"] for row in facts.rows.get("key_figures", [])}
        return (
            f"We analysed {_count(figures, 'responses', 'response')} to {_count(figures, 'topics', 'topic')}, "
            "with an analysis based on that of CrowdRAG-25 [@gienapp2025]. No judgments of pairs had been collected."
        )
    judges = _count(sums, "participants", "judge")
    who = POOLS.get(facts.settings.pool, facts.settings.pool.lower())
    simulated = ", simulated" if sums.get("simulated") else ""
    return (
        f"We analysed {_count(sums, 'judgments', 'judgment')} of {_count(sums, 'pairs', 'presented pair')} of "
        f"responses to {topics}, with an analysis based on that of CrowdRAG-25 [@gienapp2025]. The judgments "
        f"are from {judges} ({who}{simulated})."
    )


def describe_votes(facts: RunFacts) -> str:
    """Describe the votes used for agreement."""
    if not facts.is_judged:
        return ""
    k = facts.settings.k
    if k:
        agreement = f"For agreement, we used the first {k} judgments of each presented pair."
    else:
        agreement = (
            "For agreement, we used the first k judgments of each presented pair, where k is the number of judges that "
            "its campaign requested."
        )
    rest = " For competence and labels, we used all judgments." if facts.measured("mace", "log_likelihood") else ""
    return f"{agreement}{rest} Each order of a pair is a separate unit."


def describe_intervals(facts: RunFacts) -> str:
    """Describe the intervals."""
    if not facts.has_interval:
        return ""
    settings = facts.settings
    drawn = "topics and of the judges" if settings.resample == TOPICS_AND_WORKERS else "topics"
    how = ""
    if facts.measured("mace", "log_likelihood"):
        refitted = settings.bootstrap == REFIT
        how = f", {'with competences, labels and grades refitted in each' if refitted else CONDITIONAL}"
    agreement = ""
    if any(facts.measured(table, "low") for table in AGREEMENT):
        agreement = (
            "For agreement they account for variation over topics and judges, from the covariance of the contributions "
            "of each pair of judgments [@cameron2011] [@aronow2015]. "
        )
    return (
        f"All intervals are 95 % confidence intervals. {agreement}For shares they use the effective sample size "
        f"[@korn1998]. All other intervals are from "
        f"{settings.resamples:,} bootstrap resamples of the {drawn}{how}, widened for small numbers of topics "
        f"[@hesterberg2015]."
    )


def describe_software(facts: RunFacts) -> str:
    """Describe the software and the seed."""
    return f"All results were computed with CrowdRAG {facts.code_version} (seed {facts.seed})."


def _count(sums: Mapping[str, Any], key: str, word: str) -> str:
    n = sums.get(key, 0)
    return f"{n:,} {word}{'' if n == 1 else 's'}"

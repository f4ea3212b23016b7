"""The methods paragraph of a self-preference run, ready for a paper. English whatever the page's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowdrag.jobs.models import Run

from ...reports import bibliography
from ...reports.types import Methods
from ...tables.rows import Row
from .. import wording
from ..experiment import COMMON
from .parameters import BUILD, KNOWLEDGE, RATINGS, READINGS, SelfPreferenceParameters

_SETTINGS = {
    "plain": "a plain prompt that asks how good it is",
    "rag": "one that asks how suitable it is for answering the question",
}


def methods(run: Run, rows: Mapping[str, list[Row]]) -> Methods:
    """Write what the run did."""
    own = SelfPreferenceParameters.from_dict(
        {name: value for name, value in run.parameters.items() if name not in COMMON}
    )
    paragraph = " ".join(_sentences(run, own, rows))
    return Methods((paragraph,), bibliography.cited((paragraph,)))


def _sentences(run: Run, own: SelfPreferenceParameters, rows: Mapping[str, list[Row]]) -> Iterable[str]:
    asked = wording.many(run.summary.get("queries", 0), "question")
    evaluator = wording.model(run.parameters.get("generator", ""))
    yield (
        f"Following Chen et al. [@chen2025], we took passages on {asked} by their author and by the truth of the "
        "answer that they state. A passage was left out that does not hold its answer word for word, and a false one "
        "that still holds a true answer or whose answer cannot be told from it."
    )
    yield f"The evaluator was {evaluator}{_who(own)}; prompts were version {own.prompts} of this project's."
    attempts = wording.many(own.attempts, "time")
    if BUILD in own.parts:
        yield (
            "It wrote its passages itself: a rewrite of people's passage, a false answer that took the place of the "
            f"true one in both, and passages in other styles; each was checked and asked for up to {attempts}."
        )
    if KNOWLEDGE in own.parts:
        yield (
            f"Without a passage it was asked each question {wording.many(own.tries, 'time')} at temperature "
            f"{wording.plainly(own.temperature)}; it knows a question fully if all answers are right, partly if some "
            "are: an answer is right that holds the true one or is held by it, in letters or in words."
        )
    if RATINGS in own.parts:
        settings = " and under ".join(_SETTINGS[each] for each in own.settings)
        bound = "bound to the five replies of the form" if own.constrained else "read strictly"
        yield (
            f"Each passage was rated from 1 to 5 under {settings}, replies {bound}. Human less model was tested by "
            "Student's t-test paired by question, beside it by Welch's [@welch1947]."
        )
    if READINGS in own.parts:
        yield (
            f"Pairs of passages were read for an answer in both orders{_bound(own)}. The passage used is the one "
            "that the evaluator named where both state the same answer, and the one whose answer it gave where they "
            f"differ; an answer of neither or of both was asked for again, {attempts} in all, and then left "
            "unresolved. Preferences are over pairs resolved in both orders and were tested against one half by "
            "t-tests over questions."
        )
    if rows.get("self_preference_perplexity"):
        yield f"{_perplexities(own)}; authors were compared by analysis of variance and Tukey's test [@tukey1949]."
    yield (
        f"Intervals are 95 % bootstrap intervals over {own.resamples:,} resamples of questions "
        f"[@hesterberg2015]; p-values "
        "were adjusted for the false discovery rate within each table [@benjamini1995], Tukey's for all pairs. "
        f"The seed was {run.seed}."
    )


def _perplexities(own: SelfPreferenceParameters) -> str:
    if not own.perplexity:
        return "Perplexities came with the data"
    return (
        "Perplexity is e to the mean negative log-likelihood of a passage's tokens, the first after the start token, "
        f"by {wording.model(own.perplexity)}"
    )


def _bound(own: SelfPreferenceParameters) -> str:
    return ", replies bound to the two passages and their answers" if own.constrained_readings else ""


def _who(own: SelfPreferenceParameters) -> str:
    if BUILD in own.parts:
        return f" ({own.evaluator} in the tables)"
    if own.author:
        return f", the author {own.author} of the bank"
    return ", which wrote none of the passages: preferences between other authors are shown"

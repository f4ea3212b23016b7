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
    parameters = SelfPreferenceParameters.from_dict(
        {name: value for name, value in run.parameters.items() if name not in COMMON}
    )
    paragraph = " ".join(_sentences(run, parameters, rows))
    return Methods((paragraph,), bibliography.cited((paragraph,)))


def _sentences(run: Run, parameters: SelfPreferenceParameters, rows: Mapping[str, list[Row]]) -> Iterable[str]:
    questions = wording.many(run.summary.get("queries", 0), "question")
    evaluator = wording.model(run.parameters.get("generator", ""))
    yield (
        f"Following Chen et al. [@chen2025], we took passages on {questions} by their author and by the truth of the "
        "answer that they state. A passage was left out that does not hold its answer word for word, and a false one "
        "that still holds a true answer or whose answer cannot be told from it."
    )
    yield (
        f"The evaluator was {evaluator}{_who(parameters)}; prompts were version {parameters.prompts} of this project's."
    )
    attempts = wording.many(parameters.attempts, "time")
    if BUILD in parameters.parts:
        yield (
            "It wrote its passages itself: a rewrite of people's passage, a false answer that took the place of the "
            f"true one in both, and passages in other styles; each was checked and asked for up to {attempts}."
        )
    if KNOWLEDGE in parameters.parts:
        yield (
            f"Without a passage it was asked each question {wording.many(parameters.tries, 'time')} at temperature "
            f"{wording.plainly(parameters.temperature)}; it knows a question fully if all answers are right, "
            "partly if some are: an answer is right that holds the true one or is held by it, in letters or in words."
        )
    if RATINGS in parameters.parts:
        settings = " and under ".join(_SETTINGS[setting] for setting in parameters.settings)
        bound = "bound to the five replies of the form" if parameters.constrained else "read strictly"
        yield (
            f"Each passage was rated from 1 to 5 under {settings}, replies {bound}. Human less model was tested by "
            "Student's t-test paired by question, beside it by Welch's [@welch1947]."
        )
    if READINGS in parameters.parts:
        yield (
            f"Pairs of passages were read for an answer in both orders{_bound(parameters)}. The passage used is "
            "the one "
            "that the evaluator named where both state the same answer, and the one whose answer it gave where they "
            f"differ; an answer of neither or of both was asked for again, {attempts} in all, and then left "
            "unresolved. Preferences are over pairs resolved in both orders and were tested against one half by "
            "t-tests over questions."
        )
    if rows.get("self_preference_perplexity"):
        perplexities = _perplexities(parameters)
        yield f"{perplexities}; authors were compared by analysis of variance and Tukey's test [@tukey1949]."
    yield (
        f"Intervals are 95 % bootstrap intervals over {parameters.resamples:,} resamples of questions "
        f"[@hesterberg2015]; p-values "
        "were adjusted for the false discovery rate within each table [@benjamini1995], Tukey's for all pairs. "
        f"The seed was {run.seed}."
    )


def _perplexities(parameters: SelfPreferenceParameters) -> str:
    if not parameters.perplexity:
        return "Perplexities came with the data"
    return (
        "Perplexity is e to the mean negative log-likelihood of a passage's tokens, the first after the start token, "
        f"by {wording.model(parameters.perplexity)}"
    )


def _bound(parameters: SelfPreferenceParameters) -> str:
    return ", replies bound to the two passages and their answers" if parameters.constrained_readings else ""


def _who(parameters: SelfPreferenceParameters) -> str:
    if BUILD in parameters.parts:
        return f" ({parameters.evaluator} in the tables)"
    if parameters.author:
        return f", the author {parameters.author} of the bank"
    return ", which wrote none of the passages: preferences between other authors are shown"

"""The methods paragraph of a self-preference run, ready for a paper. Always in English."""

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
    """Return the methods paragraph of a run, with its references."""
    parameters = SelfPreferenceParameters.from_dict(
        {name: value for name, value in run.parameters.items() if name not in COMMON}
    )
    paragraph = " ".join(_sentences(run, parameters, rows))
    return Methods((paragraph,), bibliography.cited((paragraph,)))


def _sentences(run: Run, parameters: SelfPreferenceParameters, rows: Mapping[str, list[Row]]) -> Iterable[str]:
    questions = wording.many(run.summary.get("queries", 0), "question")
    evaluator = wording.model(run.parameters.get("generator", ""))
    yield (
        f"Following Chen et al. [@chen2025], we used passages on {questions}, by author and by truth of their answer. "
        "We excluded passages that do not contain their answer word for word. We also excluded false passages that "
        "contain a true answer, or whose answer cannot be distinguished from the true one."
    )
    yield (
        f"The evaluator was {evaluator}{_who(parameters)}. We used version {parameters.prompts} of this project's "
        "prompts."
    )
    attempts = wording.many(parameters.attempts, "time")
    if BUILD in parameters.parts:
        yield (
            "It wrote its own passages: a rewrite of people's passage, a false answer that replaced the true one in "
            f"both, and passages in other styles. Each was checked and requested up to {attempts}."
        )
    if KNOWLEDGE in parameters.parts:
        yield (
            f"It answered each question without a passage {wording.many(parameters.tries, 'time')} at temperature "
            f"{wording.plainly(parameters.temperature)}. It knows a question fully if all answers are right, and "
            "partly if some are. An answer is right if it contains the true one or is contained in it, in letters or "
            "in words."
        )
    if RATINGS in parameters.parts:
        settings = " and under ".join(_SETTINGS[setting] for setting in parameters.settings)
        bound = "constrained to the five allowed replies" if parameters.constrained else "parsed strictly"
        yield (
            f"Each passage was rated from 1 to 5 under {settings}, with replies {bound}. The difference human minus "
            "model was tested by Student's t-test paired by question, and by Welch's test [@welch1947]."
        )
    if READINGS in parameters.parts:
        yield (
            f"The evaluator answered questions from pairs of passages in both orders{_bound(parameters)}. If both "
            "passages state the same answer, the used passage is the one that the evaluator named. "
            "If their answers differ, it "
            "is the one whose answer it gave. Answers of neither or both passages were requested again, up to "
            f"{attempts} in total, and then left unresolved. Preferences are over pairs resolved in both orders, and "
            "were tested against one half by t-tests over questions."
        )
    if rows.get("self_preference_perplexity"):
        perplexities = _perplexities(parameters)
        yield f"{perplexities}. Authors were compared by analysis of variance and Tukey's test [@tukey1949]."
    yield (
        f"Intervals are 95 % bootstrap intervals over {parameters.resamples:,} resamples of questions "
        f"[@hesterberg2015]. p-values were adjusted for the false discovery rate within each table [@benjamini1995], "
        "and Tukey's for all pairs. "
        f"The seed was {run.seed}."
    )


def _perplexities(parameters: SelfPreferenceParameters) -> str:
    if not parameters.perplexity:
        return "Perplexities are from the data"
    return (
        "Perplexity is e to the mean negative log-likelihood of a passage's tokens (the first follows the start "
        f"token), by {wording.model(parameters.perplexity)}"
    )


def _bound(parameters: SelfPreferenceParameters) -> str:
    return ", with replies constrained to the two passages and their answers" if parameters.constrained_readings else ""


def _who(parameters: SelfPreferenceParameters) -> str:
    if BUILD in parameters.parts:
        return f" ({parameters.evaluator} in the tables)"
    if parameters.author:
        return f", the author {parameters.author} of the bank"
    return ", which wrote none of the passages, so we report preferences between other authors"

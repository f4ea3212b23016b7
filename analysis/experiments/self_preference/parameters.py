"""What a self-preference experiment is made with."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.rag.self_preference import knowledge, prompts, replies
from analysis.rag.self_preference.bank import HUMAN, Case, Style
from analysis.rag.self_preference.knowledge import TRIES
from analysis.rag.self_preference.pointwise import Setting

from ...parameters import BadParameterError, parameter
from .. import generators
from ..experiment import ParameterReader

#: What can be asked of the evaluator.
BUILD, KNOWLEDGE, RATINGS, READINGS = "build", "knowledge", "ratings", "readings"
PARTS = {
    BUILD: gettext_lazy("Have it write passages of its own first"),
    KNOWLEDGE: gettext_lazy("What it knows without a passage"),
    RATINGS: gettext_lazy("Rate each passage"),
    READINGS: gettext_lazy("Answer from two passages, in both orders"),
}
CASES = {
    Case.BOTH_TRUE: gettext_lazy("Both true"),
    Case.BOTH_FALSE: gettext_lazy("Both false"),
    Case.OURS_TRUE: gettext_lazy("The author's true, the other's false"),
    Case.THEIRS_TRUE: gettext_lazy("The other's true, the author's false"),
    Case.AS_WRITTEN: gettext_lazy("As written, truth unknown"),
    Case.STYLE: gettext_lazy("Another style against the normal one"),
}
SETTINGS = {Setting.PLAIN: gettext_lazy("Plain"), Setting.RAG: gettext_lazy("For answering the question")}
STYLES = {Style.QA: gettext_lazy("From question and answer"), Style.LONG: gettext_lazy("Long")}
#: What the evaluator is called where it writes passages and nobody names it.
EVALUATOR = "evaluator"


@dataclass(frozen=True)
class SelfPreferenceParameters(ParameterReader):
    """The experiment's own parameters.

    `author` is what the evaluator's own passages are called where it writes some ("": `evaluator`).
    """

    parts: tuple[str, ...] = parameter(
        (KNOWLEDGE, RATINGS, READINGS),
        gettext_lazy("What is asked"),
        "choices",
        help=gettext_lazy("What the data itself says (models' answers, perplexities) is computed in any case."),
        choices=tuple(PARTS.items()),
    )
    author: str = parameter(
        "",
        gettext_lazy("The model's name in the bank"),
        "text",
        help=gettext_lazy("The author whose passages this model wrote: “gpt”, say. Empty where it wrote none of them."),
        most=60,
    )
    settings: tuple[str, ...] = parameter(
        tuple(Setting),
        gettext_lazy("Ratings"),
        "choices",
        help=gettext_lazy("What the model is told to rate."),
        choices=tuple((str(key), label) for key, label in SETTINGS.items()),
    )
    cases: tuple[str, ...] = parameter(
        tuple(Case),
        gettext_lazy("Pairs"),
        "choices",
        help=gettext_lazy("Which passages are set against each other."),
        choices=tuple((str(key), label) for key, label in CASES.items()),
    )
    styles: tuple[str, ...] = parameter(
        (Style.QA, Style.LONG),
        gettext_lazy("Styles"),
        "choices",
        help=gettext_lazy("In which it writes, beside the normal one."),
        choices=tuple((str(key), label) for key, label in STYLES.items()),
        is_advanced=True,
    )
    perplexity: str = parameter(
        "",
        gettext_lazy("Perplexity by"),
        "model",
        help=gettext_lazy(
            "A causal model in this process (GPT-2 in the paper) reads all passages. Empty: as in the data."
        ),
        is_advanced=True,
        is_here=True,
    )
    tries: int = parameter(
        TRIES,
        gettext_lazy("Tries without a passage"),
        "integer",
        help=gettext_lazy("A question is known that is answered right each time."),
        least=1,
        most=20,
        is_advanced=True,
    )
    temperature: float = parameter(
        knowledge.TEMPERATURE,
        gettext_lazy("Temperature of these tries"),
        "number",
        help=gettext_lazy("At 0 all tries of a question are one."),
        least=0,
        most=2,
        is_advanced=True,
    )
    attempts: int = parameter(
        replies.ATTEMPTS,
        gettext_lazy("Attempts"),
        "integer",
        help=gettext_lazy("How often in all something is asked whose reply cannot be read; then it is unresolved."),
        least=1,
        most=10,
        is_advanced=True,
    )
    constrained: bool = parameter(
        True,
        gettext_lazy("Bind ratings to their form"),
        "flag",
        help=gettext_lazy("The server lets the model reply one of the five ratings only. Otherwise the reply is free."),
        is_advanced=True,
    )
    constrained_readings: bool = parameter(
        False,
        gettext_lazy("Bind readings to their form"),
        "flag",
        help=gettext_lazy(
            "For small models: the reply is one of the two answers with one of the two passages, no third."
        ),
        is_advanced=True,
    )
    prompts: int = parameter(
        prompts.VERSION,
        gettext_lazy("Version of the prompts"),
        "integer",
        least=1,
        most=prompts.VERSION,
        is_advanced=True,
    )
    resamples: int = parameter(
        2000,
        gettext_lazy("Resamples"),
        "integer",
        help=gettext_lazy("Of questions, for the intervals."),
        least=100,
        most=100_000,
        is_advanced=True,
    )

    def check(self) -> None:
        """Check that people are not the evaluator, and that a server is not asked for what it does not say."""
        if self.author == HUMAN:
            raise BadParameterError(_("author is “human”; the evaluator is a model."))
        if self.perplexity and generators.read(self.perplexity).where != "model":
            message = _("perplexity is %(name)r; it is a model in this process (model:NAME): servers do not tell it.")
            raise BadParameterError(message % {"name": self.perplexity})

    @property
    def evaluator(self) -> str:
        """The author that the evaluator is; "" where it wrote nothing."""
        return self.author or (EVALUATOR if BUILD in self.parts else "")

"""What a self-preference experiment is made with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.rag.self_preference import knowledge, prompts, replies
from analysis.rag.self_preference.bank import HUMAN, Case, Style
from analysis.rag.self_preference.knowledge import TRIES
from analysis.rag.self_preference.pointwise import Setting

from .. import generators
from ..experiment import BadParameterError, ParameterField, ParameterReader

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

    Attributes
    ----------
    parts : tuple of str
        Of `PARTS`. What the data itself knows (answers of models, perplexities) is computed in any case: it is free.
    author : str
        Which author of the bank the evaluator is; "" where it wrote none of its passages. With `build`, what its own
        passages are called ("" : `evaluator`).
    settings : tuple of str
        Of the ratings: `plain`, `rag`.
    cases : tuple of str
        Of the readings: `bank.Case`.
    styles : tuple of str
        In which styles beside the normal one it writes: `qa`, `long`.
    perplexity : str
        A causal model in this process that reads every passage, as `generating.read` reads its name; "" where
        perplexities are those of the data.
    tries : int
        How often each question is asked without a passage.
    temperature : float
        At which that is asked.
    attempts : int
        How often something is asked in all when the reply cannot be read.
    constrained : bool
        Whether ratings are bound to the five replies that can be read.
    constrained_readings : bool
        Whether readings are bound to the two passages and their answers: for models that do not keep the form.
    prompts : int
        Version of the prompts.
    resamples : int
        Of questions, for intervals.
    """

    parts: tuple[str, ...] = (KNOWLEDGE, RATINGS, READINGS)
    author: str = ""
    settings: tuple[str, ...] = tuple(Setting)
    cases: tuple[str, ...] = tuple(Case)
    styles: tuple[str, ...] = (Style.QA, Style.LONG)
    perplexity: str = ""
    tries: int = TRIES
    temperature: float = knowledge.TEMPERATURE
    attempts: int = replies.ATTEMPTS
    constrained: bool = True
    constrained_readings: bool = False
    prompts: int = prompts.VERSION
    resamples: int = 2000

    @staticmethod
    def read(name: str, usual: Any, value: Any) -> Any:
        """Return one value as its field holds it."""
        return _read(name, usual, value)

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


LISTS: dict[str, tuple[str, ...]] = {
    "parts": tuple(PARTS),
    "settings": tuple(SETTINGS),
    "cases": tuple(CASES),
    "styles": tuple(STYLES),
}
BOUNDS: dict[str, tuple[float, float]] = {
    "tries": (1, 20),
    "temperature": (0, 2),
    "attempts": (1, 10),
    "prompts": (1, prompts.VERSION),
    "resamples": (100, 100_000),
}
LONGEST = 60
#: Of a model's name: it may be a path.
LONGEST_NAME = 500


def _read(name: str, usual: Any, value: Any) -> Any:
    if name in LISTS:
        return _several(name, value)
    if isinstance(usual, bool):
        if not isinstance(value, bool):
            raise BadParameterError(_("%(name)s is %(value)r; it is true or false.") % {"name": name, "value": value})
        return value
    if isinstance(usual, str):
        most = LONGEST_NAME if name == "perplexity" else LONGEST
        if not isinstance(value, str) or len(value) > most:
            message = _("%(name)s is %(value)r; it is a text of at most %(most)s letters.")
            raise BadParameterError(message % {"name": name, "value": value, "most": most})
        return value.strip()
    return _number(name, usual, value)


def _several(name: str, value: Any) -> tuple[str, ...]:
    known = LISTS[name]
    if isinstance(value, str) or not isinstance(value, Sequence) or not set(value) <= set(known):
        message = _("%(name)s is %(value)r; it is a list of some of: %(known)s.")
        raise BadParameterError(message % {"name": name, "value": value, "known": ", ".join(known)})
    return tuple(str(item) for item in known if item in value)


def _number(name: str, usual: float, value: Any) -> float:
    least, most = BOUNDS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    is_whole = is_number and float(value).is_integer()
    if not is_number or (isinstance(usual, int) and not is_whole) or not least <= value <= most:
        message = _("%(name)s is %(value)r; it is a number from %(least)s to %(most)s.")
        raise BadParameterError(message % {"name": name, "value": value, "least": least, "most": most})
    return int(value) if isinstance(usual, int) else float(value)


FIELDS = (
    ParameterField(
        "parts",
        gettext_lazy("What is asked"),
        "choices",
        gettext_lazy("What the data itself says (models' answers, perplexities) is computed in any case."),
        choices=tuple(PARTS.items()),
    ),
    ParameterField(
        "author",
        gettext_lazy("The model's name in the bank"),
        "text",
        gettext_lazy("The author whose passages this model wrote: “gpt”, say. Empty where it wrote none of them."),
        most=LONGEST,
    ),
    ParameterField(
        "settings", gettext_lazy("Ratings"), "choices", gettext_lazy("What the model is told to rate."),
        choices=tuple((str(key), label) for key, label in SETTINGS.items()),
    ),
    ParameterField(
        "cases", gettext_lazy("Pairs"), "choices", gettext_lazy("Which passages are set against each other."),
        choices=tuple((str(key), label) for key, label in CASES.items()),
    ),
    ParameterField(
        "styles", gettext_lazy("Styles"), "choices", gettext_lazy("In which it writes, beside the normal one."),
        choices=tuple((str(key), label) for key, label in STYLES.items()), is_advanced=True,
    ),
    ParameterField(
        "perplexity", gettext_lazy("Perplexity by"), "model",
        gettext_lazy("A causal model in this process (GPT-2 in the paper) reads all passages. Empty: as in the data."),
        is_advanced=True, is_here=True,
    ),
    ParameterField(
        "tries", gettext_lazy("Tries without a passage"), "integer",
        gettext_lazy("A question is known that is answered right each time."),
        least=1, most=20, is_advanced=True,
    ),
    ParameterField(
        "temperature", gettext_lazy("Temperature of these tries"), "number",
        gettext_lazy("At 0 all tries of a question are one."), least=0, most=2, is_advanced=True,
    ),
    ParameterField(
        "attempts", gettext_lazy("Attempts"), "integer",
        gettext_lazy("How often in all something is asked whose reply cannot be read; then it is unresolved."),
        least=1, most=10, is_advanced=True,
    ),
    ParameterField(
        "constrained", gettext_lazy("Bind ratings to their form"), "flag",
        gettext_lazy("The server lets the model reply one of the five ratings only. Otherwise the reply is free."),
        is_advanced=True,
    ),
    ParameterField(
        "constrained_readings", gettext_lazy("Bind readings to their form"), "flag",
        gettext_lazy("For small models: the reply is one of the two answers with one of the two passages, no third."),
        is_advanced=True,
    ),
    ParameterField(
        "prompts", gettext_lazy("Version of the prompts"), "integer", least=1, most=prompts.VERSION, is_advanced=True
    ),
    ParameterField(
        "resamples", gettext_lazy("Resamples"), "integer",
        gettext_lazy("Of questions, for the intervals."), least=100, most=100_000, is_advanced=True,
    ),
)  # fmt: skip

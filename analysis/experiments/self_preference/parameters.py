"""Parameters of a self-preference experiment."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.rag.self_preference import knowledge, prompts, replies
from analysis.rag.self_preference.bank import HUMAN, Case, Style
from analysis.rag.self_preference.knowledge import TRIES
from analysis.rag.self_preference.pointwise import Setting

from ...parameters import BadParameterError, parameter
from .. import generators
from ..experiment import ParameterReader

#: The parts that can be measured.
BUILD, KNOWLEDGE, RATINGS, READINGS = "build", "knowledge", "ratings", "readings"
PARTS = {
    BUILD: "Write own passages first",
    KNOWLEDGE: "Test knowledge without a passage",
    RATINGS: "Rate each passage",
    READINGS: "Answer from two passages, in both orders",
}
CASES = {
    Case.BOTH_TRUE: "Both true",
    Case.BOTH_FALSE: "Both false",
    Case.OURS_TRUE: "Author's true, other's false",
    Case.THEIRS_TRUE: "Other's true, author's false",
    Case.AS_WRITTEN: "As written, truth unknown",
    Case.STYLE: "Another style against the normal one",
}
SETTINGS = {Setting.PLAIN: "Plain", Setting.RAG: "For answering the question"}
STYLES = {Style.QA: "From question and answer", Style.LONG: "Long"}
#: The evaluator's default name as an author of passages.
EVALUATOR = "evaluator"


@dataclass(frozen=True)
class SelfPreferenceParameters(ParameterReader):
    """The experiment's own parameters.

    `author` is the author name of the evaluator's own passages, if it writes some ("": `evaluator`).
    """

    parts: tuple[str, ...] = parameter(
        (KNOWLEDGE, RATINGS, READINGS),
        "Parts",
        "choices",
        help="Results from the data itself (models' answers, perplexities) are always computed.",
        choices=tuple(PARTS.items()),
    )
    author: str = parameter(
        "",
        "The model's name in the bank",
        "text",
        help="The author name of this model's passages, for example “gpt”. Empty: it wrote none of them.",
        most=60,
    )
    settings: tuple[str, ...] = parameter(
        tuple(Setting),
        "Ratings",
        "choices",
        help="The prompts for ratings.",
        choices=tuple((str(key), label) for key, label in SETTINGS.items()),
    )
    cases: tuple[str, ...] = parameter(
        tuple(Case),
        "Pairs",
        "choices",
        help="Which passages to compare.",
        choices=tuple((str(key), label) for key, label in CASES.items()),
    )
    styles: tuple[str, ...] = parameter(
        (Style.QA, Style.LONG),
        "Styles",
        "choices",
        help="Other styles for its own passages, besides the normal one.",
        choices=tuple((str(key), label) for key, label in STYLES.items()),
        is_advanced=True,
    )
    perplexity: str = parameter(
        "",
        "Perplexity model",
        "model",
        help=(
            "A causal model in this process that reads all passages (GPT-2 in the paper). Empty: values in the data."
        ),
        is_advanced=True,
        is_here=True,
    )
    tries: int = parameter(
        TRIES,
        "Attempts without a passage",
        "integer",
        help="A question counts as known if all answers are right.",
        least=1,
        most=20,
        is_advanced=True,
    )
    temperature: float = parameter(
        knowledge.TEMPERATURE,
        "Temperature of these attempts",
        "number",
        help="At 0, all attempts of a question are the same.",
        least=0,
        most=2,
        is_advanced=True,
    )
    attempts: int = parameter(
        replies.ATTEMPTS,
        "Maximum attempts",
        "integer",
        help="Total requests per unreadable reply, before it counts as unresolved.",
        least=1,
        most=10,
        is_advanced=True,
    )
    constrained: bool = parameter(
        True,
        "Constrain ratings",
        "flag",
        help="The server restricts replies to the five ratings. Otherwise replies are free text.",
        is_advanced=True,
    )
    constrained_readings: bool = parameter(
        False,
        "Constrain readings",
        "flag",
        help=("For small models: restricts replies to one of the two answers with one of the two passages."),
        is_advanced=True,
    )
    prompts: int = parameter(
        prompts.VERSION,
        "Prompt version",
        "integer",
        least=1,
        most=prompts.VERSION,
        is_advanced=True,
    )
    resamples: int = parameter(
        2000,
        "Resamples",
        "integer",
        help="Resamples of questions for intervals.",
        least=100,
        most=100_000,
        is_advanced=True,
    )

    def check(self) -> None:
        """Check that people are not the evaluator, and that the server can return what the run needs."""
        if self.author == HUMAN:
            raise BadParameterError("author must not be “human”, because the evaluator is a model.")
        if self.perplexity and generators.read(self.perplexity).where != "model":
            message = (
                "perplexity must be a model in this process (model:NAME), not %(name)r. Servers do not return "
                "perplexity."
            )
            raise BadParameterError(message % {"name": self.perplexity})

    @property
    def evaluator(self) -> str:
        """The author name of the evaluator; "" if it wrote no passages."""
        return self.author or (EVALUATOR if BUILD in self.parts else "")

"""What a model's answer comes to. Nothing is guessed: what does not fit is kept as what it is, and is no judgment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.text import statements
from crowdrag.llm.enums import Fault
from crowdrag.llm.gateway import Answer
from writing.domain.generation import outcomes as writing

from ...enums import JudgingOutcome
from ..reading import Question
from . import prompts


@dataclass(frozen=True)
class Given:
    """One answer: the option's value, and why."""

    value: int
    justification: str = ""


@dataclass(frozen=True)
class Outcome:
    """What an answer came to: its mark, and what was given to each dimension."""

    outcome: JudgingOutcome
    given: Mapping[int, Given] = field(default_factory=dict)


def judge(answer: Answer, *, questions: Sequence[Question]) -> Outcome:
    """Say what an answer to these questions comes to.

    An answer is a judgment only if it is one JSON document of the form that was asked for, every question answered by
    one of its options: the gateway has asked up to five times for that, and nothing else is looked for in the words.
    """
    if answer.refusal is not None or answer.finish_reason == writing.FILTERED:
        return Outcome(JudgingOutcome.REFUSED)
    if not answer.fault:
        return Outcome(JudgingOutcome.JUDGED, _given(answer, questions))
    if answer.fault != Fault.INVALID:
        return Outcome(JudgingOutcome.FAILED)
    if answer.is_cut:
        return Outcome(JudgingOutcome.CUT)
    said = writing.cleaned(answer.text or "")
    if not said:
        return Outcome(JudgingOutcome.EMPTY)
    if writing.is_refusal(said, statements.parse(said, passages=0)):
        return Outcome(JudgingOutcome.REFUSED)
    return Outcome(JudgingOutcome.INVALID)


def _given(answer: Answer, questions: Sequence[Question]) -> dict[int, Given]:
    found = {}
    for number, question in enumerate(questions, start=1):
        said = answer.data[prompts.key_of(number)]
        option, why = (said["answer"], said["justification"]) if isinstance(said, dict) else (said, "")
        found[question.pk] = Given(prompts.options_of(question)[option], writing.cleaned(why))
    return found

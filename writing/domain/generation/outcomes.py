"""What a model's answer comes to. Nothing is thrown away: an answer that is no response is kept and marked."""

import re
from dataclasses import dataclass
from typing import Any, Final

from analysis.text import degeneracy, statements
from crowdrag.llm.gateway import Answer

from ...enums import LONGEST_TEXT, AnswerOutcome
from .slots import Slot
from .writers import Form

# An answer is overlong from this multiple of the words asked for.
OVERLONG: Final = 2.0
FILTERED: Final = "content_filter"

# A refusal in words, where a server does not mark it: a short answer without a citation that begins like this. Kept
# narrow on purpose: a response that is taken for a refusal is lost to the analysis, a refusal that is taken for a
# response is seen by whoever reads it.
SHORT: Final = 80
_REFUSALS: Final = re.compile(
    r"""(?:(?:i['’]m|i\ am)\ (?:very\ |so\ )?sorry\b|sorry,|(?:my\ )?apologies\b|unfortunately,\ i\b
        |i\ (?:cannot|can['’]?t|can\ not|won['’]t|will\ not|must\ decline)\b
        |(?:i['’]m|i\ am)\ (?:unable|not\ able)\ to\b
        |as\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_LEAD = " \t\n\"'“”‘’*_#>"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class Outcome:
    """What an answer came to: its mark, and the text that would be a response (or what was said instead of one)."""

    outcome: AnswerOutcome
    text: str
    words: int

    def is_response(self, *, accept_overlong: bool) -> bool:
        """Whether it becomes a response."""
        return self.outcome == AnswerOutcome.WRITTEN or (self.outcome == AnswerOutcome.OVERLONG and accept_overlong)


def judge(answer: Answer, *, slot: Slot, form: str, words: int, overlong: float = OVERLONG) -> Outcome:
    """Say what an answer comes to."""
    said = cleaned(answer.text or "")
    if answer.refusal is not None:
        return _outcome(AnswerOutcome.REFUSED, cleaned(answer.refusal) or said)
    if answer.finish_reason == FILTERED:
        return _outcome(AnswerOutcome.REFUSED, said)
    if answer.fault:
        return _outcome(AnswerOutcome.FAILED, said or cleaned(answer.error))
    text = composed(answer.data, slot) if form == Form.STATEMENTS else said
    parsed = statements.parse(text, passages=len(slot.passages))
    if not parsed.words or not any(statement.body for statement in parsed.statements):
        return _outcome(AnswerOutcome.EMPTY, text)
    if form == Form.TEXT and is_refusal(text, parsed):
        return _outcome(AnswerOutcome.REFUSED, text)
    if len(text) > LONGEST_TEXT:
        return _outcome(AnswerOutcome.FAILED, text)
    if degeneracy.is_degenerate(text):
        return Outcome(AnswerOutcome.BROKEN, text, parsed.words)
    if answer.is_cut or parsed.words > overlong * words:
        return Outcome(AnswerOutcome.OVERLONG, text, parsed.words)
    return Outcome(AnswerOutcome.WRITTEN, text, parsed.words)


def is_refusal(text: str, parsed: statements.ParsedResponse) -> bool:
    """Whether a text is a refusal in words: short, citing nothing, beginning as refusals do."""
    return parsed.words < SHORT and not parsed.cited_passages and bool(_REFUSALS.match(text.lstrip(_LEAD)))


def composed(data: Any, slot: Slot) -> str:
    """Turn a model's statements into a text with markers; a bullet style gets its dashes."""
    dash = "- " if slot.style.name == "bullet" else ""
    parts = [(dash + " ".join(part["text"].split()).lstrip("-• "), part["citations"]) for part in data["statements"]]
    return cleaned(statements.compose(parts, passages=len(slot.passages)).text)


def cleaned(text: str) -> str:
    """Return a text as it can be stored: without NUL and half surrogate pairs, with plain line ends, stripped."""
    return _UNSTORABLE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n").strip()


def _outcome(outcome: AnswerOutcome, text: str) -> Outcome:
    return Outcome(outcome, text, statements.count_words(text))

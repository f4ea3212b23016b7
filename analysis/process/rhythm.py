"""What typing looks like from up close: intervals between keys, where text was added, how sentences began."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.process.events import TYPED, Change, Log, texts
from analysis.process.thresholds import Thresholds

# What may stand between the end of a sentence and the next one's beginning: quotes, brackets, blanks, list signs.
_BETWEEN = " \t\u00a0\"'\u201c\u201d\u2018\u2019\u00ab\u00bb()*#-\u2022"
# A citation marker ends a statement; after any of these a small letter goes on ("e.g. this").
_UNSPACED_ENDS = "\u3002\uff01\uff1f"
_ENDS = ".!?\u2026\u0964]" + _UNSPACED_ENDS


@dataclass(frozen=True)
class Typing:
    """How the typed characters came.

    Attributes
    ----------
    characters : int
        How many were typed.
    at_end : int
        How many of them at the end of the text (white space behind them aside).
    sentences : int
        How many sentences were begun by typing, the first one left out.
    after_pause : int
        How many of them after a pause.
    begun : tuple of int
        When the others were begun (milliseconds as recorded).
    """

    characters: int
    at_end: int
    sentences: int
    after_pause: int
    begun: tuple[int, ...]


def intervals(log: Log, *, thresholds: Thresholds) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the times between one key and the next, pauses left out, in milliseconds.

    From the key events where there are any, otherwise between single typed characters in a row.
    """
    if log.keys:
        steps = [other - one for one, other in pairwise(log.keys)]
    else:
        steps = [other.at - one.at for one, other in pairwise(log.changes) if _is_key(one) and _is_key(other)]
    return np.array([step for step in steps if 0 < step < thresholds.pause], dtype=np.float64)


def typing(log: Log, *, thresholds: Thresholds) -> Typing:
    """Follow the typed characters."""
    characters = at_end = sentences = after_pause = 0
    begun: list[int] = []
    last_at: int | None = None
    for change, before in texts(log.changes):
        if change.source in TYPED and change.inserted and len(change.inserted) < thresholds.jump:
            characters += len(change.inserted)
            rest = before[change.position + change.deleted :]
            if not rest or rest.isspace():
                at_end += len(change.inserted)
            # Before the first sentence nothing was written that a pause could follow.
            if last_at is not None and _begins_sentence(change, before):
                sentences += 1
                if change.at - last_at >= thresholds.pause:
                    after_pause += 1
                else:
                    begun.append(change.ms)
        # The pause may come before the blank or the line break that leads to the sentence.
        if change.inserted.strip(_BETWEEN + "\n") or not change.inserted:
            last_at = change.at
    return Typing(characters, at_end, sentences, after_pause, tuple(begun))


def _is_key(change: Change) -> bool:
    return change.source == "typed" and len(change.inserted) == 1 and not change.deleted


def _begins_sentence(change: Change, before: str) -> bool:
    lead = change.inserted.lstrip(_BETWEEN + "\n")
    if not lead or not lead[0].isalnum():
        return False
    skipped = change.inserted[: len(change.inserted) - len(lead)]
    # Looking back over a bounded stretch keeps long runs of blanks cheap.
    context = before[max(0, change.position - 200) : change.position] + skipped
    previous = context.rstrip(_BETWEEN)
    if not previous or previous[-1] == "\n":
        return True
    is_apart = len(previous) < len(context) or previous[-1] in _UNSPACED_ENDS
    return is_apart and previous[-1] in _ENDS and not lead[0].islower()

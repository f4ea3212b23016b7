"""A simulated typist who writes a given text in the editor, controlled by a random generator.

The typist generates the events that the editor's page would record, and sends them through the same functions: the
server checks them, stores them, and rebuilds the text from them. Only the person is simulated, and pages say so.

There are three manners: *careful* reads the passages, pauses, makes and corrects typos, and rewords a little; *pasted*
types a few words and pastes the rest from elsewhere; *transcribed* types as if copying from another screen: evenly,
with hardly any pauses and no corrections.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from writing.editor import event_validation, ingestion, sessions
from writing.editor.codec import Event
from writing.editor.events import ELSEWHERE
from writing.models import WritingTask

SCREEN: Final = {"width": 1440, "height": 900, "touch": False}
BATCH: Final = 400
MARKER: Final = re.compile(r"\[\d+(?:, \d+)*\]")
NEIGHBOURS: Final = dict(zip("abcdefghijklmnopqrstuvwxyz", "svxfrghjoklknmpowtdyibecux", strict=True))
_KEYS: Final = ((" ", "space"), ("\n", "enter"))


@dataclass(frozen=True)
class TypingStyle:
    """A manner of typing: milliseconds between keys and their spread, pauses before sentences, share of typos."""

    pace: float
    spread: float
    thinks: tuple[float, float]
    typos: float
    reads: bool


MANNERS: Final = {
    "careful": TypingStyle(pace=150, spread=0.55, thinks=(5_000, 20_000), typos=0.02, reads=True),
    "pasted": TypingStyle(pace=170, spread=0.5, thinks=(1_500, 4_000), typos=0.01, reads=False),
    "transcribed": TypingStyle(pace=190, spread=0.08, thinks=(250, 700), typos=0.0, reads=False),
}


@dataclass
class EditorClient:
    """A simulated editor page: text, caret, clock, and recorded events."""

    rng: Random
    manner: TypingStyle
    text: str = ""
    ms: int = 0
    caret: int = 0
    events: list[Event] = field(default_factory=list)

    def say(self, code: str, *fields: Any) -> None:
        """Record an event at the current time."""
        self.events.append([code, self.ms, *fields])

    def wait(self, low: float, high: float) -> None:
        """Let a random time pass, in milliseconds."""
        self.ms += round(self.rng.uniform(low, high))

    def splice(self, deleted: int, inserted: str, source: str, input_type: str) -> None:
        """Change the text at the caret."""
        self.say("s", self.caret, deleted, inserted, source, input_type)
        self.text = self.text[: self.caret] + inserted + self.text[self.caret + deleted :]
        self.caret += len(inserted)

    def strike(self, character: str) -> None:
        """Press the key of a character."""
        self.ms += max(40, round(self.rng.lognormvariate(0, self.manner.spread) * self.manner.pace))
        self.say("k", _key(character), round(self.rng.uniform(60, 110)))
        self.splice(0, character, "typed", "insertLineBreak" if character == "\n" else "insertText")

    def rub_out(self) -> None:
        """Press backspace."""
        self.ms += round(self.rng.uniform(90, 190))
        self.say("k", "backspace", round(self.rng.uniform(50, 90)))
        self.caret -= 1
        self.splice(1, "", "deleted", "deleteContentBackward")

    def type(self, words: str) -> None:
        """Type words, with occasional typos that are soon corrected."""
        for number, character in enumerate(words):
            neighbour = NEIGHBOURS.get(character)
            if neighbour and self.rng.random() < self.manner.typos:
                further = words[number + 1 : number + 1 + self.rng.choice((0, 0, 1, 2))]
                for wrong in neighbour + further:
                    self.strike(wrong)
                self.wait(200, 700)
                for _wrong in neighbour + further:
                    self.rub_out()
            self.strike(character)

    def read(self, rank: int, low: float, high: float) -> None:
        """Open a passage, read it, and close it."""
        self.say("o", rank, True)
        began = self.ms
        self.wait(low, high)
        self.say("d", rank, self.ms - began)
        self.say("o", rank, False)

    def check(self) -> None:
        """Record the checksum of the text."""
        self.say("h", hashlib.sha256(self.text.encode()).hexdigest()[:16])


def write(*, task: WritingTask, text: str, manner: str, pasted: str = "", rng: Random, now: datetime) -> datetime:
    """Write and finish a text in a claimed task whose entry survey is answered; return the time of the end.

    If an earlier call was interrupted, its text is deleted and writing starts again.
    """
    opened = sessions.open_session(task=task, device=SCREEN, now=now)
    editor = EditorClient(rng, MANNERS[manner], text=opened.text, ms=opened.elapsed, caret=0)
    editor.say("a", round(now.timestamp() * 1000), SCREEN["width"], SCREEN["height"], SCREEN["touch"])
    editor.say("f", True)
    if editor.text:
        editor.splice(len(editor.text), "", "deleted", "deleteContentBackward")
    perform(editor, text, pasted)
    assert editor.text == text, "the script leads to the text"
    editor.check()

    def at(ms: int) -> datetime:
        return now + timedelta(milliseconds=ms - opened.elapsed)

    first = 0
    for number, events in enumerate(_batches(editor.events)):
        body = {"number": number, "first": first, "events": events}
        batch = event_validation.parse_batch(json.dumps(body).encode())
        ingestion.receive(token=opened.token, batch=batch, now=at(events[-1][1]))
        first += len(events)
    digest = hashlib.sha256(text.encode()).hexdigest()
    content = {"session": opened.session.number, "events": first, "digest": digest}
    sessions.finish(task=task, finished=event_validation.parse_finish(json.dumps(content).encode()), now=at(editor.ms))
    return at(editor.ms)


def perform(editor: EditorClient, text: str, pasted: str = "") -> None:
    """Write a text in the editor's manner."""
    if editor.manner.reads:
        for rank in range(8):
            editor.read(rank, 8_000, 25_000)
        editor.say("q", "cost", 3)
    before, quoted, after = text.partition(pasted) if pasted else (text, "", "")
    _compose(editor, before)
    if quoted:
        _fetch(editor, quoted)
        _compose(editor, after)
    if editor.manner.reads:
        _reword(editor)


def _compose(editor: EditorClient, text: str) -> None:
    """Write a text in pieces; each is a sentence, or a part of one up to its citation marker."""
    think: Callable[[], None] = lambda: editor.wait(*editor.manner.thinks)  # noqa: E731 -- shorter than a function
    done = 0
    for marker in MARKER.finditer(text):
        ranks = [int(rank) for rank in re.findall(r"\d+", marker[0])]
        if editor.manner.reads:
            editor.read(ranks[0], 8_000, 20_000)
        think()
        editor.type(text[done : marker.start()])
        _cite(editor, marker[0], ranks)
        editor.check()
        done = marker.end()
    editor.type(text[done:])


def _cite(editor: EditorClient, marker: str, ranks: list[int]) -> None:
    """Cite with the passage's button if there is one passage; otherwise type the marker."""
    if len(ranks) > 1 or not editor.manner.reads:
        editor.type(marker)
        for rank in ranks:
            editor.say("b", rank, editor.caret, "typed")
        return
    editor.wait(500, 1_500)
    editor.say("b", ranks[0], editor.caret, "button")
    editor.splice(0, marker, "cited", "")


def _fetch(editor: EditorClient, text: str) -> None:
    """Leave the window, return with a text, and paste it."""
    editor.wait(800, 2_000)
    editor.say("f", False)
    editor.say("v", False)
    editor.wait(45_000, 90_000)
    editor.say("v", True)
    editor.say("f", True)
    editor.wait(600, 1_500)
    editor.say("k", "command", 80)
    editor.say("p", ELSEWHERE, len(text), 0)
    editor.splice(0, text, "pasted", "insertFromPaste")


def _reword(editor: EditorClient) -> None:
    """Reread the text and retype one word."""
    editor.wait(8_000, 20_000)
    words = list(re.finditer(r"[A-Za-z]{6,}", editor.text))
    chosen = editor.rng.choice(words)
    editor.caret = chosen.end()
    editor.say("c", editor.caret, editor.caret)
    for _letter in chosen[0]:
        editor.rub_out()
    editor.wait(1_000, 3_000)
    for letter in chosen[0]:
        editor.strike(letter)
    editor.caret = len(editor.text)
    editor.say("c", editor.caret, editor.caret)


def _key(character: str) -> str:
    for known, name in _KEYS:
        if character == known:
            return name
    return "letter" if character.isalpha() else "digit" if character.isdigit() else "mark"


def _batches(events: list[Event]) -> Iterator[list[Event]]:
    for start in range(0, len(events), BATCH):
        yield events[start : start + BATCH]

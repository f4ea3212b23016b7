"""What each signal is called, what it says, and which harmless causes it may have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Wording:
    """The words of a signal, in English; pages translate them."""

    title: str
    explanation: str
    innocent: str


WORDINGS = {
    "paste_from_elsewhere": Wording(
        title="Paste from elsewhere",
        explanation=(
            "The share of the final text that was pasted or dropped and stands neither in a passage nor in "
            "the writer's own text."
        ),
        innocent=(
            "Notes or a draft written in another program; a translation or a dictionary; text from a screen "
            "reader or a dictation program; a passage copied with many changes."
        ),
    ),
    "sudden_jumps": Wording(
        title="Sudden jumps",
        explanation=(
            "Text that came at once without a paste: more than a hand types between two changes. The value "
            "is the share of the final text that came so and stands in no passage."
        ),
        innocent=(
            "Dictation, completion of whole phrases, a text expander, an input method, spelling software; in "
            "imported snapshots, an ordinary paste from a passage or a gap in the recording."
        ),
    ),
    "uniform_rhythm": Wording(
        title="Uniform rhythm",
        explanation=(
            "How much the intervals between keys vary: their standard deviation divided by their mean, "
            "pauses left out. Hands are irregular; a program that types need not be."
        ),
        innocent=(
            "A switch or another assistive device that gives keys at fixed intervals; a very practised "
            "typist; a browser that rounds times."
        ),
    ),
    "no_corrections": Wording(
        title="No corrections",
        explanation=(
            "Deleted characters for each typed one. Whoever composes a text takes something back now and "
            "then; whoever copies one takes back little."
        ),
        innocent=(
            "A careful typist; a plan made beforehand on paper; corrections made by the spelling checker instead."
        ),
    ),
    "transcription": Wording(
        title="Rhythm of transcription",
        explanation=(
            "The share of sentences that were begun after a pause, where nearly everything was typed at the "
            "end of the text. Composing pauses at the beginning of sentences; copying does not."
        ),
        innocent=(
            "A draft on paper; long reading beforehand; dictation through an input method; an outline "
            "written in one go."
        ),
    ),
    "away_before_paste": Wording(
        title="Away before a paste",
        explanation=(
            "Pastes from elsewhere that came shortly after another tab or window was in front. The value is "
            "their share of the final text."
        ),
        innocent=(
            "A look at a dictionary; notes in another window; a message that arrived; a password manager or "
            "a clipboard program."
        ),
    ),
}

"""All thresholds of this package, with their defaults: none of them is hidden in the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What counts as what. Times in milliseconds, lengths in characters, shares from 0 to 1.

    Attributes
    ----------
    idle : int
        A longer gap between two events is time away: it does not count as active.
    pause : int
        A gap between two changes of the text from which on it is a pause (2 s: Kaufer et al. 1986, Chenoweth and
        Hayes 2001, and most of the literature since).
    jump : int
        Text of this length that comes at once, and not by pasting, is a jump.
    together : int
        Changes that follow each other faster than this, each where the one before ended, came at once.
    paste : int
        Shorter pastes are no evidence of anything.
    match : float
        The share of a pasted text's words that must stand in a passage (in runs of `shingle` words) to come from it.
    shingle : int
        How many words in a row must be equal to count as taken over.
    elsewhere_note, elsewhere_strong : float
        The share of the final text that was pasted from elsewhere.
    jumps_note, jumps_strong : float
        The share of the final text that came in jumps and stands in no passage.
    intervals : int
        Rhythm is not judged on fewer intervals between keys.
    uniform_note, uniform_strong : float
        Coefficients of variation (standard deviation by mean) of these intervals that are uncommonly low.
    typed : int
        Corrections are not judged on fewer typed characters.
    corrected_note, corrected_strong : float
        Deleted characters for each typed one that are uncommonly few.
    sentences : int
        Transcription is not judged on fewer sentences that were begun by typing.
    linear : float
        The share of typed characters that came at the text's end, from which on production is linear.
    thought_note, thought_strong : float
        The share of sentences begun after a pause that is uncommonly low.
    away : int
        A shorter absence is no absence.
    back : int
        How soon after an absence a paste must come to belong to it.
    """

    idle: int = 30_000
    pause: int = 2_000
    jump: int = 50
    together: int = 20
    paste: int = 20
    match: float = 0.6
    shingle: int = 4
    elsewhere_note: float = 0.05
    elsewhere_strong: float = 0.25
    jumps_note: float = 0.05
    jumps_strong: float = 0.25
    intervals: int = 200
    uniform_note: float = 0.3
    uniform_strong: float = 0.15
    typed: int = 500
    corrected_note: float = 0.01
    corrected_strong: float = 0.002
    sentences: int = 5
    linear: float = 0.95
    thought_note: float = 0.2
    thought_strong: float = 0.05
    away: int = 5_000
    back: int = 15_000


DEFAULTS = Thresholds()

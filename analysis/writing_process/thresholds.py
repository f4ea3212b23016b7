"""All thresholds of this package, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Thresholds of all measures. Times in milliseconds, lengths in characters, shares from 0 to 1.

    Attributes
    ----------
    idle : int
        Gaps between events that are longer than this are idle time and do not count as active.
    pause : int
        Minimum gap between two changes of the text that is a pause (2 s: Kaufer et al. 1986, Chenoweth and Hayes 2001,
        and most of the literature since).
    jump : int
        Minimum length of text that is inserted at once, without a paste, to be a jump.
    together : int
        Changes that follow each other within this time, each at the end of the previous one, count as one insertion.
    paste : int
        Shorter pastes are not evidence.
    match : float
        Minimum share of a pasted text's words that are in a passage (in runs of `shingle` words) to identify the
        passage as its source.
    shingle : int
        Minimum number of equal words in a row that count as copied.
    elsewhere_note, elsewhere_strong : float
        Share of the final text that was pasted from elsewhere.
    jumps_note, jumps_strong : float
        Share of the final text that was inserted in jumps and is in no passage.
    intervals : int
        Minimum number of intervals between keys to rate the rhythm.
    uniform_note, uniform_strong : float
        Coefficients of variation (standard deviation divided by mean) of these intervals that are uncommonly low.
    typed : int
        Minimum number of typed characters to rate corrections.
    corrected_note, corrected_strong : float
        Numbers of deleted characters per typed character that are uncommonly low.
    sentences : int
        Minimum number of sentences begun by typing to rate transcription.
    linear : float
        Minimum share of typed characters at the end of the text that makes the production linear.
    thought_note, thought_strong : float
        Shares of sentences begun after a pause that are uncommonly low.
    away : int
        Minimum duration of an absence.
    back : int
        Maximum time between an absence and a paste that belongs to it.
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

"""Measures of the writing process, as pure functions of a log's events.

>>> from analysis.writing_process import activity, provenance, signals
>>> events = [["s", 0, 0, 0, "Leaves", "typed", "insertText"], ["s", 400, 6, 0, " fall.", "typed", "insertText"]]
>>> activity(events).kept
12

Events are lists as in docs/reference/log-format.md, in the order in which they changed the text.
docs/methods/writing-process.md describes the method.
"""

from analysis.writing_process.pace import Activity, Burst, BurstEnd, Pause, Revision, activity
from analysis.writing_process.passage_matches import Match, Sources
from analysis.writing_process.provenance import Arrival, Origin, Provenance, Run, provenance
from analysis.writing_process.review_signals import Level, Signal, Span, signals
from analysis.writing_process.thresholds import Thresholds

__all__ = [
    "Activity",
    "Arrival",
    "Burst",
    "BurstEnd",
    "Level",
    "Match",
    "Origin",
    "Pause",
    "Provenance",
    "Revision",
    "Run",
    "Signal",
    "Sources",
    "Span",
    "Thresholds",
    "activity",
    "provenance",
    "signals",
]

"""All figures of a log by name: counted by hand, and against the functions that they are made of."""

import numpy as np
import pytest

from analysis.writing_process import activity, measures, provenance
from analysis.writing_process.events import BrokenLogError
from analysis.writing_process.measures import NAMES, measure
from tests.analysis.writing_process import planted_writers
from tests.analysis.writing_process.planted_writers import PASSAGES

QUOTE = PASSAGES[0][:40]


def splice(ms, position, deleted, inserted, source="typed"):
    return ["s", ms, position, deleted, inserted, source, ""]


def test_a_log_counted_by_hand():
    events = [
        ["a", 0, 0, 1280, 800, 0],
        ["o", 1000, 3, 1],
        ["o", 1500, 3, 0],
        ["o", 1600, 3, 1],
        ["d", 2000, 3, 700],
        ["d", 2000, 5, 300],
        ["q", 2500, "leaves", 4],
        splice(3000, 0, 0, "Y"),
        splice(3200, 1, 0, "e"),
        splice(3400, 2, 0, "s"),
        splice(3500, 2, 1, "", "deleted"),
        splice(3600, 2, 0, "s "),
        ["v", 4000, 0],
        ["v", 10_000, 1],
        ["v", 10_500, 0],
        ["v", 11_000, 1],
        ["p", 11_400, 0, 40, 100],
        splice(11_400, 4, 0, QUOTE, "pasted"),
        splice(11_600, 44, 0, "x" * 6, "pasted"),
    ]
    found = measure(events, PASSAGES)
    assert list(found) == list(NAMES)
    assert found == {
        "seconds": 11.6,
        "active_seconds": 11.6,
        "pauses": 1,  # before the paste
        "bursts": 2,  # "Yes", ended by a deletion; "s ", ended by the pause
        "pastes": 2,
        "pasted_share": 46 / 50,
        "revisions": 1,
        "paused_seconds": 7.8,
        "burst_characters": 2.5,
        "typing_rate": pytest.approx(5 * 60 / 11.6),
        "produced": 51,
        "deleted": 1,
        "immediate_revisions": 1,
        "at_once_share": 46 / 50,
        "passage_share": 40 / 50,
        "elsewhere_share": 6 / 50,
        "passages_opened": 1,
        "passage_seconds": 1.0,
        "searches": 1,
        "absences": 1,  # the second was too short to be one
        "away_seconds": 6.0,
    }


def test_snapshots_say_what_they_can_and_none_stands_for_the_rest():
    events = [["s", 0, 0, 0, QUOTE + " and more."], ["s", 300, 50, 0, "!"]]
    found = measure(events, PASSAGES)
    unknown = {name for name, value in found.items() if value is None}
    assert unknown == {"pastes", "pasted_share", "passages_opened", "passage_seconds", "searches", "absences",
                       "away_seconds"}  # fmt: skip
    assert found["at_once_share"] == 50 / 51
    assert found["passage_share"] == 50 / 51
    assert measure(events, None)["passage_share"] is None


@pytest.mark.parametrize("writer", ["composer", "transcriber", "robot", "paster"])
def test_figures_are_those_of_the_functions_that_make_them(writer):
    events = getattr(planted_writers, writer)(np.random.default_rng(3)).events
    found = measure(events, PASSAGES)
    pace, origins = activity(events), provenance(events, PASSAGES)
    assert found["seconds"] == pace.seconds
    assert found["active_seconds"] == pace.active_seconds
    assert (found["pauses"], found["bursts"], found["revisions"]) == (
        len(pace.pauses), len(pace.bursts), len(pace.revisions))  # fmt: skip
    assert found["produced"] - found["deleted"] == pace.kept == len(origins.text)
    assert found["pastes"] == len(origins.pastes)
    assert found["pasted_share"] == origins.pasted_share
    spans = [span for each in origins.arrivals if (each.place or 0) >= 0 and each.place is not None
             for span in origins.spans(each)]  # fmt: skip
    assert found["passage_share"] * len(origins.text) == pytest.approx(sum(end - start for start, end in spans))


@pytest.mark.parametrize("events", [[], [["a", 0, 0, 1280, 800, 0]]])
def test_nothing_written_is_nothing_measured(events):
    found = measure(events, PASSAGES)
    assert found["pauses"] == found["produced"] == 0
    assert found["typing_rate"] is found["pasted_share"] is found["passage_share"] is found["burst_characters"] is None
    assert (found["seconds"] is None) == (not events)


def test_a_broken_log_is_an_error():
    with pytest.raises(BrokenLogError):
        measure([splice(0, 5, 0, "x")], PASSAGES)
    assert set(measures.unknown().values()) == {None}

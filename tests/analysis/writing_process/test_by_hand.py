"""Small logs whose every figure can be counted on the page."""

import time

import numpy as np
import pytest

from analysis.writing_process import Origin, Thresholds, activity, provenance, signals
from analysis.writing_process.events import ELSEWHERE, OWN_TEXT
from tests.analysis.writing_process.planted_writers import PASSAGES

QUOTE = PASSAGES[0][:40]


def typed(text, *, ms=0, position=0, step=200):
    return [["s", ms + step * i, position + i, 0, letter, "typed", "insertText"] for i, letter in enumerate(text)]


def test_a_burst_a_pause_a_correction_and_a_burst():
    events = [
        *typed("Leafs"),  # 0 to 800 ms
        ["s", 3800, 4, 1, "", "deleted", ""],  # after 3 s
        ["s", 4000, 3, 1, "", "deleted", ""],  # the same revision
        *typed("ves", ms=4200, position=3),
        ["f", 50_000, 0],  # 45.4 s without anything
        ["f", 51_000, 1],
    ]
    found = activity(events)
    assert (found.events, found.changes) == (12, 10)
    assert found.seconds == 51.0
    assert found.active_seconds == pytest.approx(4.6 + 1.0)
    assert [(pause.start, pause.end, pause.seconds) for pause in found.pauses] == [(800, 3800, 3.0)]
    assert [(burst.start, burst.end, burst.characters, str(burst.ended_by)) for burst in found.bursts] == [
        (0, 800, 5, "pause"),
        (4200, 4600, 3, "end"),
    ]
    assert [(each.position, each.characters, each.is_immediate) for each in found.revisions] == [(3, 2, True)]
    assert (found.produced, found.deleted, found.kept, found.typed) == (8, 2, 6, 8)
    assert found.typing_rate == pytest.approx(8 * 60 / 5.6)


def test_a_revision_elsewhere_is_distant_and_ends_a_burst():
    events = [*typed("Leaves fall."), ["s", 2500, 0, 6, "Petals", "typed", ""]]
    found = activity(events)
    assert [(burst.characters, str(burst.ended_by)) for burst in found.bursts] == [(12, "revision"), (6, "end")]
    assert [each.is_immediate for each in found.revisions] == [False]
    assert len(found.r_bursts) == len(found.p_bursts) == 1


def test_a_paste_is_followed_through_typing_in_it_and_cutting_from_it():
    events = [
        *typed("Yes. "),
        ["p", 5000, 0, 40, 100],
        ["s", 5000, 5, 0, QUOTE, "pasted", "insertFromPaste"],
        ["s", 6000, 15, 0, "!!", "typed", ""],
        ["s", 7000, 5, 4, "", "deleted", ""],
    ]
    found = provenance(events, PASSAGES)
    assert found.text == "Yes. " + QUOTE[4:10] + "!!" + QUOTE[10:]
    assert [(run.start, run.end, run.origin, run.arrival) for run in found.runs] == [
        (0, 5, Origin.TYPED, None),
        (5, 11, Origin.PASTED, 0),
        (11, 13, Origin.TYPED, None),
        (13, 43, Origin.PASTED, 0),
    ]
    (paste,) = found.arrivals
    assert (paste.place, paste.share, paste.noted, paste.survived, paste.survived_share) == (0, 1.0, 0, 36, 0.9)
    assert found.pasted_share == 36 / 43


def test_what_is_cut_and_pasted_or_undone_keeps_its_first_origin():
    events = [
        *typed("One. "),
        ["s", 2000, 5, 0, "Quite foreign text.", "pasted", ""],
        ["s", 3000, 5, 19, "", "cut", ""],
        ["s", 4000, 0, 0, "Quite foreign text.", "pasted", ""],
        ["s", 5000, 0, 19, "", "undone", ""],
        ["s", 6000, 5, 0, "Quite foreign text.", "undone", ""],
    ]
    found = provenance(events, PASSAGES)
    assert [(run.start, run.end, run.origin, run.arrival) for run in found.runs] == [
        (0, 5, Origin.TYPED, None),
        (5, 24, Origin.PASTED, 0),
    ]
    assert [(each.place, each.survived) for each in found.arrivals] == [(ELSEWHERE, 19), (OWN_TEXT, 19)]
    moved = provenance(events[:-2], PASSAGES)
    assert [(each.place, each.survived) for each in moved.arrivals] == [(ELSEWHERE, 19), (OWN_TEXT, 19)]


def test_a_copy_of_ones_own_typing_is_typing():
    events = [
        *typed("Leaves fall. "),
        ["y", 4000, OWN_TEXT, 0, 12, 0],
        ["s", 5000, 13, 0, "Leaves fall.", "pasted", ""],
    ]
    found = provenance(events, PASSAGES)
    assert [(run.origin, run.end) for run in found.runs] == [(Origin.TYPED, 25)]
    assert [(each.place, each.survived) for each in found.pastes] == [(OWN_TEXT, 12)]
    assert found.pasted_share == 0.0


def test_a_paste_in_several_splices_is_one():
    halves = [["s", 100, 0, 0, QUOTE[:20], "pasted", ""], ["s", 104, 20, 0, QUOTE[20:], "pasted", ""]]
    (paste,) = provenance(halves, PASSAGES).arrivals
    assert (paste.text, paste.place) == (QUOTE, 0)


def test_the_pages_note_decides_between_passages_that_share_a_text_but_is_not_believed_without_it():
    twice = [PASSAGES[0], PASSAGES[1], PASSAGES[0]]
    for noted, place in ((2, 2), (0, 0), (1, 0), (-2, 0)):
        events = [["p", 100, noted, 40, 100], ["s", 100, 0, 0, QUOTE, "pasted", ""]]
        (paste,) = provenance(events, twice).arrivals
        assert (paste.place, paste.noted) == (place, noted)


def test_other_ways_in_are_told_apart():
    events = [
        *typed("Teh"),
        ["s", 1000, 0, 3, "The", "replaced", "insertReplacementText"],
        ["s", 2000, 3, 0, " [3]", "cited", ""],
        ["s", 3000, 7, 0, " Draft.", "restored", ""],
        ["s", 4000, 14, 0, " Put in.", "external", ""],
        ["s", 5000, 22, 0, QUOTE, "dropped", "insertFromDrop"],
    ]
    found = provenance(events, PASSAGES)
    assert found.characters == {
        Origin.CORRECTED: 3,
        Origin.CITED: 4,
        Origin.RESTORED: 7,
        Origin.EXTERNAL: 8,
        Origin.DROPPED: 40,
    }


def test_snapshots_know_what_came_at_once_and_no_more():
    events = [["s", 0, 0, 0, "Yes. "], ["s", 300, 5, 0, PASSAGES[0][:60]], ["s", 600, 0, 0, ""]]
    found = provenance(events, PASSAGES)
    assert [(each.origin, each.place) for each in found.arrivals] == [(Origin.AT_ONCE, 0)]
    assert np.isnan(found.pasted_share)
    assert found.at_once_share == 60 / 65
    assert activity(events).typed == 5


def test_thresholds_are_parameters():
    events = [*typed("Leaves"), *typed("fall.", ms=3000, position=6)]
    assert len(activity(events).pauses) == 1
    assert len(activity(events, thresholds=Thresholds(pause=5000)).pauses) == 0
    assert activity(events, thresholds=Thresholds(idle=1000)).active_seconds == pytest.approx(1.8)


@pytest.mark.parametrize("kind", ["typing", "backspaces", "pastes"])
def test_twenty_thousand_events_take_a_fraction_of_a_second(kind):
    rng = np.random.default_rng(0)
    length, events = 0, []
    for i in range(20_000):
        if kind == "pastes" and i % 2:
            events.append(["s", i * 150, int(rng.integers(length + 1)), 0, QUOTE, "pasted", ""])
            length += 40
            events.append(["s", i * 150 + 70, 0, 40, "", "deleted", ""])
            length -= 40
        elif kind == "backspaces" and i >= 10_000:
            length -= 1
            events.append(["s", i * 150, length, 1, "", "deleted", ""])
        else:
            events.append(["s", i * 150, length, 0, "ab .C"[i % 5], "typed", ""])
            length += 1
    start = time.process_time()
    signals(events[:20_000], PASSAGES * 7)
    assert time.process_time() - start < 1.5  # 0.2 s to 0.5 s on an idle core

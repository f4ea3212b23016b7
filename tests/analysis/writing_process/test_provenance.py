"""Provenance and pace against slow references: one cell a character, one letter a change."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.writing_process import BurstEnd, Origin, activity, provenance
from analysis.writing_process.events import BrokenLogError
from tests.examples import examples

WAYS = {
    "typed": Origin.TYPED,
    "composed": Origin.TYPED,
    "pasted": Origin.PASTED,
    "dropped": Origin.DROPPED,
    "cited": Origin.CITED,
    "replaced": Origin.CORRECTED,
    "restored": Origin.RESTORED,
    "external": Origin.EXTERNAL,
    "deleted": Origin.TYPED,
}
ARRIVING = {"pasted", "dropped", "restored", "external"}


@st.composite
def logs(draw):
    """Any splices at any time; every arriving text is one of its kind, so that nothing can be a copy of it."""
    events, length, ms = [], 0, 0
    for number in range(draw(st.integers(0, 40))):
        ms += draw(st.integers(21, 40_000))
        position = draw(st.integers(0, length))
        deleted = draw(st.integers(0, min(length - position, 12)))
        source = draw(st.sampled_from(sorted(WAYS)))
        if source in ARRIVING:
            inserted = f"<{number}{draw(st.text('ab𝒳é', max_size=60))}>"
        elif source == "deleted":
            inserted = ""
        else:
            inserted = draw(st.text("xy z🙂", max_size=55))
        events.append(["s", ms, position, deleted, inserted, source, ""])
        length += len(inserted) - deleted
    return events


def cells_of(events):
    """Return [letter, origin, arrival] of each character of the final text, spliced one by one."""
    cells, arrivals = [], 0
    for _, _, position, deleted, inserted, source, _ in events:
        for _time in range(deleted):
            cells.pop(position)
        # So much in one piece is an arrival by whatever way; what a hand would type is called a jump then.
        jump = len(inserted) >= 50
        arrives = source in ARRIVING or jump
        for offset, letter in enumerate(inserted):
            origin = Origin.AT_ONCE if jump and source in {"typed", "composed"} else WAYS[source]
            cells.insert(position + offset, [letter, origin, arrivals if arrives else None])
        arrivals += bool(arrives and inserted)
    return cells, arrivals


# "restored" looks for its text among what was deleted; the texts here are unlike each other.
@given(logs())
@settings(max_examples=examples(40))
def test_every_character_has_the_origin_that_a_slow_reference_gives_it(events):
    cells, arrivals = cells_of(events)
    found = provenance(events)
    assert found.text == "".join(letter for letter, _, _ in cells)
    spread = [[letter, run.origin, run.arrival] for run in found.runs for letter in found.text[run.start : run.end]]
    assert all(one == other for one, other in zip(spread, cells, strict=True))  # the difference of lists takes hours
    assert len(found.arrivals) == arrivals
    for arrival in found.arrivals:
        assert arrival.survived == sum(number == arrival.number for _, _, number in cells)
        assert sum(end - start for start, end in found.spans(arrival)) == arrival.survived
    if found.text:
        pasted = sum(origin in {Origin.PASTED, Origin.DROPPED} for _, origin, _ in cells)
        assert not found.is_sourced or found.pasted_share == pasted / len(cells)
        assert sum(found.characters.values()) == len(cells)


def spelled(events):
    """Return the changes as letters: p a pause, D a deletion, T typing, A an arrival."""
    word, last = "", None
    for _, ms, _, deleted, inserted, source, _ in events:
        if not deleted and not inserted:
            continue
        if last is not None and ms - last >= 2_000:
            word += "p"
        word += "D" * bool(deleted)
        if inserted:
            word += "T" if source in {"typed", "composed"} and len(inserted) < 50 else "A"
        last = ms
    return word


@given(logs())
@settings(max_examples=examples(40))
def test_bursts_pauses_and_revisions_are_those_of_the_log_spelled_out(events):
    found, word = activity(events), spelled(events)
    assert len(found.pauses) == word.count("p")
    ends = {"p": BurstEnd.PAUSE, "D": BurstEnd.REVISION, "A": BurstEnd.ARRIVAL, "": BurstEnd.END}
    assert [burst.ended_by for burst in found.bursts] == [
        ends[word[each.end() : each.end() + 1]] for each in re.finditer("T+", word)
    ]
    assert len(found.p_bursts) + len(found.r_bursts) <= len(found.bursts)
    # Deletions in a row are one revision if each touches the one before, so there are at least as many as rows.
    assert len(re.findall("D+", word)) <= len(found.revisions) <= word.count("D")
    assert sum(each.characters for each in found.revisions) == found.deleted == sum(event[3] for event in events)
    assert found.kept == len(provenance(events).text)
    assert sum(burst.characters for burst in found.bursts) == found.typed


@given(logs())
@settings(max_examples=examples(40))
def test_time_is_what_it_is_by_plain_sums(events):
    found = activity(events)
    moments = [event[1] for event in events]
    gaps = [moments[i + 1] - moments[i] for i in range(len(moments) - 1)]
    assert found.seconds == pytest.approx((moments[-1] - moments[0]) / 1000 if moments else float("nan"), nan_ok=True)
    expected = sum(gap for gap in gaps if gap <= 30_000) / 1000 if moments else float("nan")
    assert found.active_seconds == pytest.approx(expected, nan_ok=True)


@given(logs(), st.integers(1, 30))
@settings(max_examples=examples(40))
def test_a_clock_that_is_set_back_adds_and_takes_nothing(events, where):
    later = [[*event[:1], event[1] - 20 if i >= where else event[1], *event[2:]] for i, event in enumerate(events)]
    one, other = activity(events), activity(later)
    assert len(one.revisions) == len(other.revisions)
    assert one.seconds - 0.0201 <= other.seconds <= one.seconds or one.seconds != one.seconds


@given(st.lists(st.integers(-5_000, 200_000), max_size=60), st.lists(st.integers(-100_000, 100_000), max_size=5))
def test_active_time_is_a_part_of_the_whole(moments, jumps):
    """Whatever the clock does within a session, and between one and the next."""
    moments = [moment + sum(jumps[: number // 10]) for number, moment in enumerate(moments)]
    found = activity([["f", moment, number % 2] for number, moment in enumerate(moments)])
    assert 0 <= found.active_seconds <= found.seconds or not moments


@pytest.mark.parametrize("event", [["s", 5, 3, 0, "x", "typed", ""], ["s", 5, 0, 1, "", "deleted", ""]])
def test_a_change_outside_its_text_is_refused_by_name(event):
    with pytest.raises(BrokenLogError, match="Event 0"):
        provenance([event])

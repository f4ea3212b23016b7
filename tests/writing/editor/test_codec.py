"""The writing log's codec: every text comes back, exactly, at every moment."""

import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from writing.editor import codec

# Text as people type it, and what breaks offsets: astral characters, combining marks, right-to-left, line ends.
TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab \r\n"), st.sampled_from("é\u0301❄🧊👩\u200d🔬שλ"), st.characters(exclude_categories=["Cs"])
    ),
    max_size=40,
)
SNAPSHOTS = st.lists(st.tuples(st.integers(0, 10**13), TEXTS), max_size=25)


@given(SNAPSHOTS)
def test_every_snapshot_comes_back(snapshots: list[tuple[int, str]]) -> None:
    events = codec.unpack(codec.pack(codec.encode(snapshots)))

    origin = snapshots[0][0] if snapshots else 0
    assert list(codec.states(events)) == [(ms - origin, text) for ms, text in snapshots]
    assert codec.final_text(events) == (snapshots[-1][1] if snapshots else "")


@given(TEXTS, TEXTS)
def test_a_splice_is_the_smallest_single_change(before: str, after: str) -> None:
    position, deleted, inserted = codec.splice(before, after)

    assert before[:position] + inserted + before[position + deleted :] == after
    # No smaller one: neither end of what goes and of what comes is the same.
    gone = before[position : position + deleted]
    assert not (gone and inserted and (gone[0] == inserted[0] or gone[-1] == inserted[-1]))


@given(st.lists(st.tuples(st.integers(0, 1000), TEXTS), min_size=1, max_size=12), st.integers(-10, 1100))
def test_the_text_at_a_moment_is_the_latest_one_by_then(steps: list[tuple[int, str]], ms: int) -> None:
    snapshots = sorted(steps, key=lambda step: step[0])
    origin = snapshots[0][0]

    expected = ""
    for at, text in snapshots:
        if at - origin <= ms:
            expected = text
    assert codec.text_at(codec.encode(snapshots), ms) == expected


@pytest.mark.parametrize("payload", [b"", b"no zstd", codec.pack([])[:-1]])
def test_a_damaged_batch_is_said_to_be_one(payload: bytes) -> None:
    with pytest.raises(codec.BrokenLog):
        codec.unpack(payload)


def test_batches_of_an_earlier_codec_are_read_and_of_no_other() -> None:
    events = [["s", 0, 0, 0, "é"], ["k", 5, "letter", 80]]
    assert codec.unpack(compressed(events), "json-zstd-1") == events
    for payload, name in ((compressed({"not": "events"}), codec.PLAIN), (codec.pack([]), "json-zstd-2")):
        with pytest.raises(codec.BrokenLog):
            codec.unpack(payload, name)


def compressed(form: object) -> bytes:
    return zstandard.ZstdCompressor().compress(json.dumps(form).encode())


SIMPLE = st.one_of(st.integers(), st.text(max_size=5), st.booleans(), st.none(), st.floats(allow_nan=False))
EVENTS = st.lists(st.builds(lambda kind, rest: [kind, *rest], st.sampled_from("sckz"), st.lists(SIMPLE, max_size=4)))


@given(EVENTS)
def test_events_of_any_form_come_back(events: list[codec.Event]) -> None:
    found = codec.unpack(codec.pack(events))

    assert found == events
    assert [[type(each) for each in event] for event in found] == [[type(each) for each in event] for event in events]


WHOLE = {"groups": [["s", 3, [[1, [1, 2]]]]], "order": [0, 0], "times": [1, [5, 5]]}


@pytest.mark.parametrize(
    "other",
    [
        {"groups": 5},
        {"groups": [["s", 3]]},
        {"groups": [["s", 4, [[1, [1, 2]]]]]},
        {"groups": [["s", 3, [[1, [1, 2, 3]]]]]},
        {"groups": [["s", 3, [[1, ["1", 2]]]]]},
        {"groups": [["s", 3, [[0, "12"]]]]},
        {"groups": [["s", 4, [[0, [1, 2]], [0, [1]]]]]},
        {"order": [0]},
        {"order": [0, 0, 0]},
        {"order": [0, 1]},
        {"order": [0, -1]},
        {"order": ["0"]},
        {"times": [1, [5]]},
        {"times": [1, [5, 5, 5]]},
        {"times": None},
    ],
)
def test_columns_that_do_not_fit_together_are_a_broken_log(other: dict[str, object]) -> None:
    assert codec.unpack(compressed(WHOLE)) == [["s", 5, 1], ["s", 10, 3]]
    with pytest.raises(codec.BrokenLog):
        codec.unpack(compressed(WHOLE | other))


def test_a_splice_outside_the_text_is_refused_and_other_events_are_passed_over() -> None:
    events = [["s", 0, 0, 0, "ab"], ["caret", 3, 1], ["s", 5, 1, 1, "c"]]
    assert list(codec.states(events)) == [(0, "ab"), (5, "ac")]
    for event in (["s", 0, 3, 0, "x"], ["s", 0, 0, 3, ""], ["s", 0, -1, 0, "x"]):
        with pytest.raises(codec.BrokenLog):
            codec.final_text([*events, event])

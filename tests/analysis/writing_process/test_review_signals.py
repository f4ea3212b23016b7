"""Signals find what was planted, stay silent where nothing was, and say so where a log cannot tell."""

import math

import numpy as np
import pytest

from analysis.writing_process import Level, Thresholds, signals
from tests.analysis.cases import check_each
from tests.analysis.writing_process.planted_writers import (
    FOREIGN,
    PASSAGES,
    SENTENCES,
    Writer,
    composer,
    paster,
    robot,
    transcriber,
)

SEEDS = range(12)
NAMES = [
    "paste_from_elsewhere",
    "sudden_jumps",
    "uniform_rhythm",
    "no_corrections",
    "transcription",
    "away_before_paste",
]


def levels(writer, passages=PASSAGES, **thresholds):
    found = signals(writer.events, passages, writer.text, thresholds=Thresholds(**thresholds))
    assert [each.name for each in found] == NAMES
    return {each.name: each.level for each in found}


def one(writer, name, passages=PASSAGES):
    return next(each for each in signals(writer.events, passages, writer.text) if each.name == name)


def test_ordinary_logs_programs_that_type_and_copying_from_paper_are_told_apart():
    def check(seed):
        assert set(levels(composer(np.random.default_rng(seed))).values()) == {Level.NONE}
        typed = levels(robot(np.random.default_rng(seed)))
        strong = {name for name, level in typed.items() if level is Level.STRONG}
        assert strong == {"uniform_rhythm", "no_corrections", "transcription"}
        # From paper sentences come without thought, and the rhythm is a hand's.
        copied = levels(transcriber(np.random.default_rng(seed)))
        assert (copied["uniform_rhythm"], copied["no_corrections"]) == (Level.NONE, Level.STRONG)
        assert copied["transcription"] is not Level.NONE

    check_each(SEEDS, check)


def test_a_paste_from_elsewhere_after_an_absence_is_shown_where_it_stands():
    def check(seed):
        writer = paster(np.random.default_rng(seed))
        for name in ("paste_from_elsewhere", "away_before_paste"):
            signal = one(writer, name)
            assert signal.level is Level.STRONG
            assert [writer.text[span.start : span.end] for span in signal.spans] == [FOREIGN]
            assert signal.value == pytest.approx(len(FOREIGN) / len(writer.text))
        assert one(writer, "away_before_paste").evidence["pastes"][0]["away_seconds"] == 40

    check_each(SEEDS, check)


def test_an_absence_long_before_a_paste_does_not_belong_to_it():
    writer = Writer(np.random.default_rng(0))
    writer.leave(40)
    writer.think(16)
    writer.paste(FOREIGN)
    assert one(writer, "away_before_paste").level is Level.NONE
    assert one(writer, "paste_from_elsewhere").level is Level.STRONG


def test_quoting_a_passage_and_moving_ones_own_text_are_no_signals():
    writer = composer(np.random.default_rng(1))
    writer.leave(20)
    writer.paste(PASSAGES[1][:80])
    writer.leave(20)
    writer.paste(writer.text[:60])
    found = levels(writer)
    assert found["paste_from_elsewhere"] is Level.NONE
    assert found["away_before_paste"] is Level.NONE


def test_a_jump_without_a_paste_is_seen_and_one_that_stands_in_a_passage_only_noted():
    for text, level in ((FOREIGN, Level.STRONG), (PASSAGES[0], Level.NOTE)):
        writer = Writer(np.random.default_rng(0))
        for letter in SENTENCES[0]:
            writer.key(letter)
        writer.wait(200)
        writer.splice(len(writer.text), 0, text, "typed")
        signal = one(writer, "sudden_jumps")
        assert signal.level is level
        assert signal.n == 1
        assert [writer.text[span.start : span.end] for span in signal.spans] == [text]


def test_letters_put_in_faster_than_hands_are_a_jump_too():
    writer = Writer(np.random.default_rng(0))
    for letter in FOREIGN:
        writer.wait(2)
        writer.splice(len(writer.text), 0, letter, "typed")
    assert one(writer, "sudden_jumps").level is Level.STRONG


def test_snapshots_cannot_say_how_text_came_and_never_give_a_strong_signal():
    writer = paster(np.random.default_rng(0))
    bare = [event[:5] for event in writer.events if event[0] == "s"]
    found = {each.name: each for each in signals(bare, PASSAGES, writer.text)}
    assert found["sudden_jumps"].level is Level.NOTE
    for name in set(NAMES) - {"sudden_jumps"}:
        assert found[name].level is Level.CANNOT_SAY
        assert math.isnan(found[name].value)
        assert found[name].evidence["why"]


def test_without_passages_nothing_is_from_elsewhere():
    found = levels(paster(np.random.default_rng(0)), passages=None)
    assert found["paste_from_elsewhere"] is Level.CANNOT_SAY
    assert found["away_before_paste"] is Level.CANNOT_SAY


def test_an_empty_log_says_nothing():
    found = signals([], PASSAGES, "")
    assert {each.level for each in found} == {Level.CANNOT_SAY}


def test_spans_are_left_out_of_a_text_that_the_log_does_not_end_in():
    writer = paster(np.random.default_rng(0))
    found = signals(writer.events, PASSAGES, "Something else.")
    assert not any(each.spans for each in found)


@pytest.mark.parametrize(
    ("name", "thresholds", "made"),
    [
        ("paste_from_elsewhere", {"elsewhere_note": 1.1, "elsewhere_strong": 1.1}, paster),
        ("paste_from_elsewhere", {"paste": 1000}, paster),
        ("away_before_paste", {"back": 100}, paster),
        ("away_before_paste", {"away": 60_000}, paster),
        ("uniform_rhythm", {"uniform_note": 0.01, "uniform_strong": 0.01}, robot),
        ("no_corrections", {"corrected_note": -1.0, "corrected_strong": -1.0}, robot),
        ("transcription", {"thought_note": -1.0, "thought_strong": -1.0}, robot),
        ("transcription", {"linear": 1.1}, robot),
    ],
)
def test_thresholds_decide_what_stands_out(name, thresholds, made):
    writer = made(np.random.default_rng(0))
    assert levels(writer)[name] is Level.STRONG
    assert levels(writer, **thresholds)[name] is Level.NONE

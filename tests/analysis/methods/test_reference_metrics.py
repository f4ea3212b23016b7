"""Metrics against grades, on hand-made topics: what is the reference, what is ranked, what is left out."""

import re

import numpy as np
import pytest
from sacrebleu import sentence_bleu
from scipy.stats import spearmanr

from analysis.inputs.arrays import Dimension, Inputs, Response
from analysis.inputs.texts import ResponseText, TopicTexts, digest
from analysis.methods.context import Context
from analysis.methods.reference_metrics import compute
from analysis.methods.reference_metrics.compute import (
    NO_BERTSCORE,
    NO_TEXTS,
    SOME_BERTSCORES,
    UNRANKED,
    Field,
    by_topic,
)
from analysis.methods.settings import AnalysisSettings
from analysis.text.statements import parse

TEXTS = {
    "t1": [
        "The river floods the old town each spring [0].",
        "The river floods the old town [1].",
        "Each spring the old river rises.",
        "A dog barks loudly at night.",
    ],
    "t2": ["One two three four", "One two three", "One", "Five six"],
    "t3": ["Alone here", "Together there"],
}
#: Best first in every topic.
GRADES = {"t1": [4, 3, 2, 1], "t2": [4, 3, 2, 1], "t3": [2, 1]}


def analysed(grades=GRADES, *, texts=True, similarity=None, known=True) -> Context:
    responses = [
        Response(f"{topic}-{i}", topic, "essay", "human", "w", 10, digest(text) if known else "")
        for topic, own in TEXTS.items()
        for i, text in enumerate(own)
    ]
    place = {response.name: i for i, response in enumerate(responses)}
    inputs = Inputs("CROWD", tuple(TEXTS), ("essay",), (Dimension("deep", "Deep", (-1, 0, 1)),), tuple(responses), {})
    read = [
        TopicTexts(topic, tuple(
            ResponseText(place[f"{topic}-{i}"], text, parse(text, passages=2), ("", ""), 0)
            for i, text in enumerate(own)
        ))
        for topic, own in TEXTS.items()
    ]  # fmt: skip
    rows = [
        {"topic": topic, "response": f"{topic}-{i}", "dimension": "deep", "merit": 0.0, "se": 1.0, "grade": grade}
        for topic, own in grades.items()
        for i, grade in enumerate(own)
    ]
    made = Context(inputs, read if texts else (), AnalysisSettings(resamples=50), 0, {}, {}, lambda _: None)
    made.tables["grades"] = rows
    made.similarity = similarity
    return made


def rows(made: Context) -> dict[tuple[str, str], dict]:
    found = compute.compute_tables(made)["reference_metrics"]
    return {(row["metric"], row["ranking"]): row for row in found}


def field(*grades, topic="t") -> Field:
    return Field(topic, tuple(range(len(grades))), np.array(grades, dtype=float))


def scored(*scores, reference=0):
    return {(i, reference): score for i, score in enumerate(scores) if i != reference and score is not None}


def test_the_best_response_is_the_reference_and_the_others_are_ranked():
    found = rows(analysed())
    t1 = [sentence_bleu(text.split(" [")[0] + ".", [TEXTS["t1"][0].replace(" [0]", "")]).score for text in TEXTS["t1"]]
    t2 = [sentence_bleu(text, [TEXTS["t2"][0]]).score for text in TEXTS["t2"]]
    expected = np.mean([spearmanr([3, 2, 1], own[1:]).statistic for own in (t1, t2)])
    row = found["bleu", "full"]
    assert row["rho"] == pytest.approx(expected, abs=1e-12)
    # The third topic has one candidate only: nothing to rank.
    assert (row["topics"], row["left_out"]) == (2, 1)
    assert found["rouge_l", "best_worst"]["rho"] == 1.0
    # The same of both topics: what was never seen to vary has no interval.
    assert (row["low"], row["high"]) == (None, None)


def test_citation_markers_are_no_part_of_what_is_compared(monkeypatch):
    with_markers = rows(analysed())
    for topic, own in TEXTS.items():
        monkeypatch.setitem(TEXTS, topic, [re.sub(r" \[\d\]", "", text) for text in own])
    assert [row["rho"] for row in with_markers.values()] == [row["rho"] for row in rows(analysed()).values()]


def test_without_texts_or_bertscores_nothing_is_made_up():
    for made in (analysed(texts=False), analysed(known=False)):
        found = rows(made)
        for key in ("full", "best_worst"):
            assert (found["bleu", key]["rho"], found["bleu", key]["note"]) == (None, NO_TEXTS)
            assert (found["bertscore", key]["rho"], found["bertscore", key]["note"]) == (None, NO_BERTSCORE)
            assert (found["bleu", key]["topics"], found["bleu", key]["left_out"]) == (0, 3)


def test_bertscores_are_taken_where_they_stand():
    found = rows(analysed(similarity=lambda candidate, reference: 1.0 - 0.1 * candidate))
    assert found["bertscore", "full"]["rho"] == 1.0
    assert found["bertscore", "full"]["topics"] == 2
    assert SOME_BERTSCORES not in found["bertscore", "full"]["note"]
    # A topic without all of its scores is left out whole, and this is said.
    some = rows(analysed(similarity=lambda candidate, reference: 1.0 - 0.1 * candidate if candidate < 7 else None))
    assert (some["bertscore", "full"]["topics"], some["bertscore", "full"]["left_out"]) == (1, 2)
    assert SOME_BERTSCORES in some["bertscore", "full"]["note"]


def test_topics_that_cannot_be_ranked_have_no_rho_and_one_topic_no_interval():
    assert compute.compute_tables(analysed(grades={})) == {}
    row = rows(analysed(grades={"t3": [2, 1]}))["bleu", "full"]
    assert (row["rho"], row["note"]) == (None, UNRANKED)
    row = rows(analysed(grades={"t1": GRADES["t1"]}))["bleu", "full"]
    assert (row["rho"] is None, row["low"], row["high"], bool(row["note"])) == (False, None, None, True)


def test_every_best_response_is_the_reference_in_turn():
    """Of two that share the best grade: the mean of both, whatever they are called."""
    scores = {(1, 0): 1.0, (2, 0): 3.0, (3, 0): 2.0, (0, 1): 9.0, (2, 1): 5.0, (3, 1): 1.0}
    full, best_worst = by_topic([field(3.5, 3.5, 2, 1)], scores)
    first = spearmanr([3.5, 2, 1], [1, 3, 2]).statistic
    second = spearmanr([3.5, 2, 1], [9, 5, 1]).statistic
    assert full[0] == pytest.approx((first + second) / 2)
    assert best_worst[0] == pytest.approx((-1 + 1) / 2)


def test_best_and_worst_are_told_apart_by_their_scores():
    for grades, scores, expected in (
        ((4, 3, 2, 1), (5, 1, 4), 1), ((4, 3, 2, 1), (4, 1, 5), -1), ((4, 3, 2, 1), (4, 1, 4), 0),
        ((4, 2.5, 2.5, 1), (4, 1, 3), 0),  # two best candidates: one above the worst, one below
        ((4, 3, 1.5, 1.5), (4, 1, 5), 0), ((4, 2, 2, 2), (1, 2, 3), None),  # nobody is best
        ((2, 1), (1,), None),
    ):  # fmt: skip
        _full, (found,) = by_topic([field(*grades)], scored(None, *scores))
        assert (None if np.isnan(found) else found) == expected, (grades, scores)
    full, best_worst = by_topic([field(4, 3, 2, 1)], scored(None, 0.0, 0.0, 0.0))
    assert (np.isnan(full[0]), best_worst[0]) == (True, 0)  # equal scores cannot be ranked


def test_fields_of_different_sizes_stand_side_by_side():
    full, _ = by_topic([field(3, 2, 1), field(5, 4, 3, 2, 1)], scored(None, 2.0, 1.0, 3.0, 4.0))
    assert full[0] == 1.0
    assert full[1] == pytest.approx(spearmanr([4, 3, 2, 1], [2, 1, 3, 4]).statistic)

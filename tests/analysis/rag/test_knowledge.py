"""What a model knows: the documented rule, and the counts that were published with the answers."""

import doctest
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.rag.self_preference import knowledge, perplexity
from analysis.rag.self_preference.knowledge import Knowledge, NoAnswersError, is_right, level, right_answers
from analysis.rag.self_preference.perplexity import TooFewPassagesError, compare

DATA = os.environ.get("CROWDRAG_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the self-preference data is not here")
# Questions (by index) whose published count does not follow from the rule, 4 of 1,200: "six grandfathers" in quotes for
# "the six grandfathers", "Frankfurt, Germany." for "Frankfurt, West Germany", the town or its state for "Manipal,
# Karnataka, India".
EXCEPTIONS: dict[str, list[int]] = {
    "nq_knowledge_openai": [],
    "nq_knowledge_llama": [102],
    "marco_knowledge_openai": [266],
    "marco_knowledge_llama": [221, 266],
}


def rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(DATA) / "self_preference" / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def test_examples() -> None:
    assert doctest.testmod(knowledge).failed == doctest.testmod(perplexity).failed == 0


def test_the_rule_by_hand() -> None:
    for answer, truth, right in (
        ("Linda Davis", "linda davis", True),
        ("It was Linda Davis.", "Linda Davis", True),
        ("Davis", "Linda Davis", True),  # an answer that is a part of the truth
        ("William Sadler", "William Thomas Sadler", True),  # its words in another place
        ("William Sadler.", "William Thomas Sadler", False),  # the point is a part of the word that was answered
        ("in the sinoatrial (SA) node.", "sinoatrial node", True),  # but not of the text that is looked into
        ("", "Linda Davis", False),
        ("Reba McEntire", "Linda Davis", False),
    ):
        assert is_right(answer, truth) is right, answer


def test_levels_and_what_is_none() -> None:
    assert [level(n) for n in range(6)] == [Knowledge.NONE, *[Knowledge.PARTIAL] * 4, Knowledge.FULL]
    with pytest.raises(NoAnswersError):
        level(0, tries=0)
    with pytest.raises(ValueError, match=r"6 .*5"):
        level(6)
    with pytest.raises(ValueError, match=r"\S"):
        is_right("x", " ")


@needs_data
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_published_counts_follow_from_the_rule(name: str) -> None:
    given = rows(name)
    wrong = [row["index"] for row in given if right_answers(row["answers"], row["truth"]) != row["correct_of_5"]]
    assert wrong == EXCEPTIONS[name]
    assert len(given) == 300


@needs_data
@pytest.mark.parametrize("name", ["nq", "marco"])
def test_people_s_passages_are_more_perplexing_than_models(name: str) -> None:
    given = rows(f"{name}_perplexity_gpt2")
    found = compare({author: [row[author] for row in given] for author in ("human", "gpt", "llama")})
    assert found.questions == len(given) == 300
    assert found.p < 0.05
    # As published for all 1,000 questions (Table 2): human above GPT above LLaMA, both below people's at 0.05.
    assert found.means["human"] > found.means["gpt"] > found.means["llama"]
    by_pair = {(each.first, each.second): each for each in found.differences}
    assert by_pair["human", "llama"].p_tukey < 0.05
    assert by_pair["human", "gpt"].p_paired < 0.05


def test_the_analysis_of_variance_by_its_sums_of_squares() -> None:
    rng = np.random.default_rng(4)
    groups = {name: rng.lognormal(3 + shift, 0.3, 40) for name, shift in (("a", 0.0), ("b", 0.1), ("c", 0.3))}
    found = compare(groups)
    table = np.stack(list(groups.values()))
    between = 40 * ((table.mean(axis=1) - table.mean()) ** 2).sum() / 2
    within = ((table - table.mean(axis=1, keepdims=True)) ** 2).sum() / (3 * 39)
    assert found.statistic == pytest.approx(between / within)
    assert found.p == pytest.approx(stats.f.sf(between / within, 2, 117))
    for pair in found.differences:
        # Tukey's test by the studentized range.
        q = abs(pair.difference) / np.sqrt(within / 40)
        assert pair.p_tukey == pytest.approx(stats.studentized_range.sf(q, 3, 117), abs=1e-6)
        paired = groups[pair.first] - groups[pair.second]
        statistic = paired.mean() / (paired.std(ddof=1) / np.sqrt(40))
        assert pair.p_paired == pytest.approx(2 * stats.t.sf(abs(statistic), 39))
        assert pair.low < pair.difference < pair.high


def test_questions_without_one_of_the_passages_are_left_out_and_counted() -> None:
    found = compare({"a": [1.0, 2.0, np.nan, 3.0], "b": [2.0, 2.5, 9.0, 4.5]})
    assert (found.questions, found.left_out) == (3, 1)
    assert found.means["b"] == pytest.approx(3.0)


def test_bad_input_is_refused() -> None:
    for given in ({"a": [1.0, 2.0]}, {"a": [1.0, np.nan], "b": [np.nan, 1.0]}):
        with pytest.raises(TooFewPassagesError):
            compare(given)
    for given in ({"a": [1.0, -2.0], "b": [1.0, 1.0]}, {"a": [1.0, 2.0], "b": [1.0]}):
        with pytest.raises(ValueError, match=r"\S"):
            compare(given)

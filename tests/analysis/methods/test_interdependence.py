"""Kendall's tau between gold labels against scipy."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from tests.analysis.rows import row_of
from tests.analysis.small_study import VOTES
from tests.analysis.vote_inputs import tables_of

NAMES = ("clear", "deep", "wide")
# A third dimension, on which one pair was not judged.
THREE = {pair: (*letters, letters[0][::-1]) for pair, letters in VOTES.items()} | {
    ("t2-y", "t2-z"): ("AAAN", "AABB", "....")
}


@pytest.fixture(scope="module")
def tables():
    return tables_of(THREE, dimensions=NAMES)


def test_tau_is_scipys_of_the_gold_labels_in_both_places_of_the_matrix(tables):
    labels: dict[str, dict[tuple[str, str], int]] = {name: {} for name in NAMES}
    for row in tables["gold"]:
        labels[row["dimension"]][row["response_a"], row["response_b"]] = "anb".index(row["label"])
    rows = tables["interdependence"]
    for one, other in ((one, other) for one in NAMES for other in NAMES if one != other):
        pairs = sorted(set(labels[one]) & set(labels[other]))
        expected = kendalltau([labels[one][p] for p in pairs], [labels[other][p] for p in pairs]).statistic
        row = row_of(rows, dimension_1=one, dimension_2=other)
        assert row["tau"] == pytest.approx(expected, abs=1e-12)
        assert row["items"] == len(pairs)
        assert row["low"] is row["high"] is None  # none of resampled topics would cover
    assert row_of(rows, dimension_1="clear", dimension_2="wide")["items"] == 6


def test_means_are_of_the_other_dimensions(tables):
    rows = tables["interdependence"]
    own = [row["tau"] for row in rows if row["dimension_1"] == "deep" and row["dimension_2"] != "all"]
    assert len(own) == 2
    assert row_of(rows, dimension_1="deep", dimension_2="all")["tau"] == pytest.approx(np.mean(own))
    means = [row["tau"] for row in rows if row["dimension_2"] == "all" and row["dimension_1"] != "all"]
    assert row_of(rows, dimension_1="all", dimension_2="all")["tau"] == pytest.approx(np.mean(means))


def test_a_dimension_alone_or_without_labels_has_no_tau():
    alone = tables_of({pair: letters[:1] for pair, letters in VOTES.items()}, dimensions=("clear",))["interdependence"]
    assert [row["tau"] for row in alone] == [None, None]
    assert alone[0]["note"]
    same = tables_of({pair: (letters[0], "AAAA") for pair, letters in VOTES.items()})["interdependence"]
    row = row_of(same, dimension_1="clear", dimension_2="deep")
    assert (row["tau"], bool(row["note"])) == (None, True)

"""Two analyses beside each other."""

import pytest

from analysis.reports import comparison
from analysis.tables import run_tables
from analysis.tables.value_labels import ValueLabels
from annotation.models import Assignment
from tests.analysis.small_study import analyse

NAMING = ValueLabels({"clear": "Clear"}, {})


def compared(name, old, new):
    return comparison.changes_of(name, old, new, NAMING, {})


def mean(dimension, value, low=1.0, high=5.0):
    return {"dimension": dimension, "style": "all", "origin": "all", "mean": value, "low": low, "high": high, "n": 6}


def test_the_largest_change_comes_first_with_old_and_new_value_and_interval():
    old = [mean("clear", 3.0), mean("deep", 3.0)]
    new = [mean("clear", 3.1), mean("deep", 2.0, 0.5, 4.5)]
    found = compared("grade_means", old, new)
    assert (found.compared, found.changed, found.added, found.removed, found.total) == (2, 2, 0, 0, 2)
    first, second = found.changes
    assert (first.about, str(first.old), str(first.new)) == (
        ("deep", "all", "all"), "3.00 [1.00, 5.00]", "2.00 [0.50, 4.50]",
    )  # fmt: skip
    assert first.delta == -1.0
    assert second.about[0] == "Clear"


def test_rows_that_came_and_went_are_counted():
    found = compared("grade_means", [mean("clear", 3.0), mean("old", 1.0)], [mean("clear", 3.0), mean("new", 1.0)])
    assert (found.compared, found.changed, found.added, found.removed) == (1, 0, 1, 1)
    assert not found.is_equal


def test_an_interval_that_changed_alone_is_a_change_too():
    found = compared("grade_means", [mean("clear", 3.0)], [mean("clear", 3.0, 2.0)])
    assert [(change.delta, change.size) for change in found.changes] == [(0.0, 0.0)]
    assert found.changes[0].is_interval_alone
    moved = compared("grade_means", [mean("clear", 3.0)], [mean("clear", 3.5, 2.0)])
    assert not moved.changes[0].is_interval_alone


@pytest.mark.parametrize(
    ("was", "now", "differs"),
    [(1.0, 1.0 + 1e-12, False), (1.0, 1.0 + 1e-6, True), (None, None, False), (None, 0.0, True), (0.0, None, True)],
)
def test_what_another_machine_adds_is_no_change(was, now, differs):
    found = compared("grade_means", [mean("clear", was)], [mean("clear", now)])
    assert found.is_equal is not differs


def test_labels_that_flipped_are_counted_apart_from_probabilities():
    pair = {"response_a": "x", "response_b": "y", "dimension": "clear", "p_n": 0.0}
    old, new = pair | {"p_a": 0.6, "p_b": 0.4, "label": "a"}, pair | {"p_a": 0.4, "p_b": 0.6, "label": "b"}
    found = compared("gold", [old], [new])
    assert (found.changed, found.total, found.words) == (1, 3, 1)
    flip = found.changes[0]
    assert (str(flip.old) != str(flip.new), flip.delta) == (True, None)


def test_ranks_that_moved_the_farthest_come_first():
    def board(**ranks):
        common = {"kind": "participant", "origin": "human", "dimension": "clear", "rank_low": 1, "rank_high": 4}
        return [common | {"participant": name, "rank": rank} for name, rank in ranks.items()]

    moved = list(comparison.moved(board(a=1, b=2, c=3, d=None), board(a=4, b=3, c=3, d=2), NAMING))
    assert [(each.about[1], str(each.old), str(each.new)) for each in moved] == [
        ("a", "1 [1, 4]", "4 [1, 4]"),
        ("b", "2 [1, 4]", "3 [1, 4]"),
    ]
    assert moved[0].about[-1] == "Clear"


def test_rows_that_are_named_alike_are_compared_in_their_order():
    rows = [mean("clear", 1.0), mean("clear", 2.0)]
    assert compared("grade_means", rows, rows).is_equal
    assert compared("grade_means", rows, rows[::-1]).changed == 2


@pytest.mark.extended
def test_equal_runs_differ_in_nothing_and_others_in_what_made_them(run):
    equal = comparison.compare(run, analyse(run.study))
    assert equal.is_equal
    assert equal.made_by == ()
    assert {each.name for each in equal.equal} == set(run_tables.names(run))
    Assignment.objects.filter(participant__external_id="w4").update(is_included=False)
    found = comparison.compare(run, analyse(run.study, seed=3, spam_threshold=0.5))
    values = [(each.old, each.new) for each in found.made_by]
    assert len(values) == 5  # the inputs' digest and participants too
    assert {("0", "3"), ("0.7", "0.5"), ("56", "42")} <= set(values)
    changed = {each.name: each for each in found.changed}
    assert changed["competence"].removed == 2
    sizes = [change.size for change in changed["agreement"].changes]
    assert sizes
    assert sizes == sorted(sizes, reverse=True)

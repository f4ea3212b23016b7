"""Long tables laid out as a paper does: nothing is lost, and nothing is said twice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.domain.reports.cells import cells
from analysis.domain.reports.shape import Column, Table
from analysis.domain.reports.spreading import spread

COLUMNS = (
    Column("dimension", "Dimension"),
    Column("split", "Pairs"),
    Column("alpha", "Alpha", 2, low="low", high="high", n="items"),
    Column("items", "Units", 0),
)


def table(*rows, columns=COLUMNS):
    made = [{"dimension": d, "split": s, "alpha": a, "low": a, "high": a, "items": n} for d, s, a, n in rows]
    return Table("made", "Made", "What it is.", columns, tuple(made), len(made))


def written(made):
    return [[column.label for column in made.columns], *([str(cell) for cell in cells(made, row)] for row in made.rows)]


def test_n_that_is_the_same_down_a_column_stands_at_its_head():
    made = spread(
        table(("x", "all", 0.1, 9), ("x", "some", 0.2, 5), ("y", "all", 0.3, 9), ("y", "some", 0.4, 5)), ["split"]
    )
    assert written(made) == [
        ["Dimension", "all (n 9)", "some (n 5)"],
        ["x", "0.10 [0.10, 0.10]", "0.20 [0.20, 0.20]"],
        ["y", "0.30 [0.30, 0.30]", "0.40 [0.40, 0.40]"],
    ]


def test_n_that_is_the_same_along_a_row_keeps_its_column():
    made = spread(
        table(("x", "all", 0.1, 9), ("x", "some", 0.2, 9), ("y", "all", 0.3, 5), ("y", "some", 0.4, 5)), ["split"]
    )
    assert written(made)[0] == ["Dimension", "all", "some", "Units"]
    assert written(made)[2][-1] == "5"


def test_n_that_is_the_same_everywhere_stands_in_the_caption():
    made = spread(table(("x", "all", 0.1, 9), ("y", "all", 0.3, 9)), ["split"])
    assert made.caption == "What it is. Units: 9."
    assert written(made)[0] == ["Dimension", "all"]


def test_n_of_no_such_order_stands_with_each_number():
    made = spread(
        table(("x", "all", 0.1, 9), ("x", "some", 0.2, 5), ("y", "all", 0.3, 8), ("y", "some", 0.4, 5)), ["split"]
    )
    assert written(made)[1][1:] == ["0.10 [0.10, 0.10] (9)", "0.20 [0.20, 0.20] (5)"]


def test_what_was_never_asked_is_empty_and_what_is_undefined_is_a_dash():
    made = spread(table(("x", "all", None, 9), ("y", "some", 0.1, 9)), ["split"])
    assert written(made)[1:] == [["x", "–", ""], ["y", "", "0.10 [0.10, 0.10]"]]


def test_a_matrix_has_its_heads_in_the_order_of_its_rows():
    made = spread(table(("a", "b", 0.1, 9), ("a", "c", 0.2, 9), ("b", "a", 0.1, 9), ("c", "a", 0.2, 9)), ["split"])
    assert written(made)[0] == ["Dimension", "a", "b", "c"]


@pytest.mark.parametrize("across", [[], ["dimension", "split"], ["items"], ["nothing"]])
def test_what_cannot_be_laid_out_stays_as_it_is(across):
    made = table(("x", "all", 0.1, 9), ("y", "all", 0.3, 9))
    assert spread(made, across) == made


def test_two_rows_for_one_cell_and_other_numbers_stay_as_they_are():
    twice = table(("x", "all", 0.1, 9), ("x", "all", 0.3, 9))
    assert spread(twice, ["split"]) == twice
    other = table(("x", "a", 0.1, 9), ("x", "b", 0.3, 9), ("y", "a", 0.3, 9), ("y", "b", 0.3, 9))
    rows = tuple(row | {"judgments": place} for place, row in enumerate(other.rows))
    more = replace(other, columns=(*COLUMNS, Column("judgments", "Judgments", 0)), rows=rows)
    assert spread(more, ["split"]) == more
    empty = table()
    assert spread(empty, ["split"]) == empty


@given(st.dictionaries(st.tuples(st.sampled_from("xyz"), st.sampled_from("abc")), st.integers(0, 3), min_size=1))
def test_every_number_and_every_n_is_there_once(given_n):
    rows = [(d, s, place / 16, n) for place, ((d, s), n) in enumerate(given_n.items())]
    made = spread(table(*rows), ["split"])
    shown = [str(cell) for row in made.rows for cell in cells(made, row)]
    for d, s, alpha, n in rows:
        assert sum(cell.startswith(f"{alpha:.2f} [") for cell in shown) == 1
        row = next(row for row in made.rows if row["dimension"] == d)
        head = next(column for column in made.columns if column.label.split(" ")[0] == s)
        places = [head.label, made.caption, *(str(cell) for cell in cells(made, row))]
        assert (
            any(mark in text for text in places for mark in (f"(n {n})", f"Units: {n}.", f"({n})")) or str(n) in places
        )

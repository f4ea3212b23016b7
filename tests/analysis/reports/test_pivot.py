"""Long tables laid out as a paper does: nothing is lost, and nothing is said twice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.tables.cells import cells
from analysis.tables.display_table import DisplayColumn, DisplayTable
from analysis.tables.pivot import wider

COLUMNS = (
    DisplayColumn("dimension", "Dimension"),
    DisplayColumn("split", "Pairs"),
    DisplayColumn("alpha", "Alpha", 2, low="low", high="high", n="items"),
    DisplayColumn("items", "Units", 0),
)


def table(*rows, columns=COLUMNS):
    made = [{"dimension": d, "split": s, "alpha": a, "low": a, "high": a, "items": n} for d, s, a, n in rows]
    return DisplayTable("made", "Made", "What it is.", columns, tuple(made), len(made))


def written(made):
    return [[column.label for column in made.columns], *([str(cell) for cell in cells(made, row)] for row in made.rows)]


ALPHAS = (("x", "all", 0.1), ("x", "some", 0.2), ("y", "all", 0.3), ("y", "some", 0.4))


@pytest.mark.parametrize(
    ("n", "heads", "cell"),
    [
        pytest.param((9, 5, 9, 5), ["Dimension", "all (n 9)", "some (n 5)"], "0.10 [0.10, 0.10]", id="down a column"),
        pytest.param((9, 9, 5, 5), ["Dimension", "all", "some", "Units"], "0.10 [0.10, 0.10]", id="along a row"),
        pytest.param((9, 5, 8, 4), ["Dimension", "all", "some"], "0.10 [0.10, 0.10] (9)", id="of no order"),
        pytest.param((9, 9, 9, 9), ["Dimension", "all", "some"], "0.10 [0.10, 0.10]", id="everywhere"),
    ],
)
def test_n_stands_once_where_it_is_the_same(n, heads, cell):
    made = wider(table(*((*row, each) for row, each in zip(ALPHAS, n, strict=True))), ["split"])
    assert (written(made)[0], written(made)[1][1]) == (heads, cell)
    assert ("9" in made.caption) is (len(set(n)) == 1)


def test_what_was_never_asked_is_empty_and_what_is_undefined_is_a_dash():
    made = wider(table(("x", "all", None, 9), ("y", "some", 0.1, 9)), ["split"])
    assert written(made)[1:] == [["x", "–", ""], ["y", "", "0.10 [0.10, 0.10]"]]


def test_a_matrix_has_its_heads_in_the_order_of_its_rows():
    made = wider(table(("a", "b", 0.1, 9), ("a", "c", 0.2, 9), ("b", "a", 0.1, 9), ("c", "a", 0.2, 9)), ["split"])
    assert written(made)[0] == ["Dimension", "a", "b", "c"]


@pytest.mark.parametrize("across", [[], ["dimension", "split"], ["items"], ["nothing"]])
def test_what_cannot_be_laid_out_stays_as_it_is(across):
    made = table(("x", "all", 0.1, 9), ("y", "all", 0.3, 9))
    assert wider(made, across) == made


def test_two_rows_for_one_cell_and_other_numbers_stay_as_they_are():
    twice = table(("x", "all", 0.1, 9), ("x", "all", 0.3, 9))
    assert wider(twice, ["split"]) == twice
    other = table(("x", "a", 0.1, 9), ("x", "b", 0.3, 9), ("y", "a", 0.3, 9), ("y", "b", 0.3, 9))
    rows = tuple(row | {"judgments": place} for place, row in enumerate(other.rows))
    more = replace(other, columns=(*COLUMNS, DisplayColumn("judgments", "Judgments", 0)), rows=rows)
    assert wider(more, ["split"]) == more
    empty = table()
    assert wider(empty, ["split"]) == empty


@given(st.dictionaries(st.tuples(st.sampled_from("xyz"), st.sampled_from("abc")), st.integers(0, 3), min_size=1))
def test_every_number_and_every_n_is_there_once(given_n):
    rows = [(d, s, place / 16, n) for place, ((d, s), n) in enumerate(given_n.items())]
    made = wider(table(*rows), ["split"])
    shown = [str(cell) for row in made.rows for cell in cells(made, row)]
    for d, s, alpha, n in rows:
        assert sum(cell.startswith(f"{alpha:.2f} [") for cell in shown) == 1
        row = next(row for row in made.rows if row["dimension"] == d)
        head = next(column for column in made.columns if column.label.split(" ")[0] == s)
        places = [head.label, made.caption, *(str(cell) for cell in cells(made, row))]
        assert (
            any(mark in text for text in places for mark in (f"(n {n})", f"Units: {n}.", f"({n})")) or str(n) in places
        )

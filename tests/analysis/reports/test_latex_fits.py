"""Wide tables as LaTeX go on a page: smaller, closer, and turned where that is not enough."""

import pytest

from analysis.domain.reports import as_latex
from analysis.domain.reports.shape import Column, Table


def table(columns: int, rows: int = 2) -> Table:
    made = tuple(
        Column(f"v{at}", f"Value {at}", 2, low=f"l{at}", high=f"h{at}") if at else Column("v0", "Name")
        for at in range(columns)
    )
    row: dict[str, str | float] = {"v0": "clarity"}
    for at in range(1, columns):
        row |= {f"v{at}": 0.5, f"l{at}": 0.25, f"h{at}": 0.75}
    return Table("made", "Made", "What it is.", made, tuple([row] * rows), rows)


@pytest.mark.parametrize(
    ("columns", "size", "is_turned"),
    [(3, "", False), (5, r"\footnotesize", False), (7, r"\small", True), (30, r"\tiny", True)],
)
def test_the_wider_the_smaller_and_at_last_turned(columns, size, is_turned):
    written = as_latex.write(table(columns)).decode()
    assert (r"\begin{sidewaystable}" in written) == (r"\end{sidewaystable}" in written) == is_turned
    assert ("rotating" in written.splitlines()[0]) == is_turned
    assert (rf"{size}\setlength{{\tabcolsep}}{{3pt}}" in written) == bool(size)


def test_long_tables_are_turned_by_another_package():
    written = as_latex.write(table(9, rows=50)).decode()
    assert "booktabs,longtable,pdflscape" in written.splitlines()[0]
    assert written.index(r"\begin{landscape}") < written.index(r"\begin{longtable}")
    assert written.index(r"\end{longtable}") < written.index(r"\end{landscape}")


def test_hyphens_are_in_braces_only_where_latex_would_make_a_dash():
    assert as_latex.escape("Bradley-Terry") == "Bradley-Terry"
    assert as_latex.escape("a--b ---") == "a{-}{-}b {-}{-}{-}"
    assert as_latex.escape("-_-") == r"-\_-"

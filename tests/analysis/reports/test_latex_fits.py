"""Wide tables as LaTeX go on a page: smaller, closer, and turned where that is not enough."""

import shutil
import subprocess

import pytest

from analysis.reports import latex
from analysis.tables.display_table import DisplayColumn, DisplayTable


def table(columns: int, rows: int = 2) -> DisplayTable:
    made = tuple(
        DisplayColumn(f"v{at}", f"Value {at}", 2, low=f"l{at}", high=f"h{at}") if at else DisplayColumn("v0", "Name")
        for at in range(columns)
    )
    row: dict[str, str | float] = {"v0": "clarity"}
    for at in range(1, columns):
        row |= {f"v{at}": 0.5, f"l{at}": 0.25, f"h{at}": 0.75}
    return DisplayTable("made", "Made", "What it is.", made, tuple([row] * rows), rows)


@pytest.mark.parametrize(
    ("columns", "size", "is_turned"),
    [(3, "", False), (5, r"\footnotesize", False), (7, r"\small", True), (30, r"\tiny", True)],
)
def test_the_wider_the_smaller_and_at_last_turned(columns, size, is_turned):
    written = latex.write(table(columns)).decode()
    assert (r"\begin{sidewaystable}" in written) == (r"\end{sidewaystable}" in written) == is_turned
    assert ("rotating" in written.splitlines()[0]) == is_turned
    assert (rf"{size}\setlength{{\tabcolsep}}{{3pt}}" in written) == bool(size)


def test_long_tables_are_turned_by_another_package():
    written = latex.write(table(9, rows=50)).decode()
    assert "booktabs,longtable,pdflscape" in written.splitlines()[0]
    assert written.index(r"\begin{landscape}") < written.index(r"\begin{longtable}")
    assert written.index(r"\end{longtable}") < written.index(r"\end{landscape}")


def test_hyphens_are_in_braces_only_where_latex_would_make_a_dash():
    assert latex.escape("Bradley-Terry") == "Bradley-Terry"
    assert latex.escape("a--b ---") == "a{-}{-}b {-}{-}{-}"
    assert latex.escape("-_-") == r"-\_-"


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no pdflatex here")
@pytest.mark.parametrize("rows", [2, 50])
def test_on_paper_nothing_runs_over_the_margin(tmp_path, rows):
    inputs = []
    for columns in range(2, 10):
        (tmp_path / f"t{columns}.tex").write_bytes(latex.write(table(columns, rows)))
        inputs.append(rf"\input{{t{columns}}}\clearpage")
    (tmp_path / "all.tex").write_text("\n".join([
        r"\documentclass{article}", r"\usepackage[T1]{fontenc}", r"\usepackage{booktabs,longtable,rotating,pdflscape}",
        r"\begin{document}", *inputs, r"\end{document}",
    ]))  # fmt: skip
    done = subprocess.run(
        ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout

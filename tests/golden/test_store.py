"""Keeping golden outputs: what is accepted is found equal again, and what became of each file is said."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis import typesetter
from tests.golden import outline, readable, store

TABLE = [{"name": "a", "value": 0.1 + 0.2, "texts": ["x" * 200]}, {"name": "b", "value": None, "texts": []}]
OUTPUTS: dict[str, Any] = {
    "tables/a.json": TABLE,
    "a.csv": "name,value\r\na,0.30000000000000004\r\n",
    "a.txt": "",
    "deep.json": {"one": {"two": list(range(100))}, "none": []},
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "EXPECTED", tmp_path)


def test_accepted_outputs_are_equal_again() -> None:
    store.accept("study", "part", OUTPUTS)
    assert store.compare("study", "part", OUTPUTS) == []
    assert store.compare("study", "other", {}) == []


def test_file_that_lacks_or_is_new_is_named(tmp_path: Path) -> None:
    store.accept("study", "part", OUTPUTS)
    renamed = {("b.csv" if path == "a.csv" else path): value for path, value in OUTPUTS.items()}
    assert store.compare("study", "part", renamed) == [
        "study/part/a.csv: expected a file, actual nothing",
        "study/part/b.csv: expected nothing, actual a file",
    ]
    store.accept("study", "part", renamed)
    assert not (tmp_path / "study/part/a.csv").exists()
    assert store.compare("study", "part", renamed) == []


def test_rounding_errors_leave_a_file_as_it_is_and_changes_are_written() -> None:
    store.accept("study", "part", OUTPUTS)
    path = store.EXPECTED / "study/part/tables/a.json"
    before = path.read_bytes()
    store.accept("study", "part", OUTPUTS | {"tables/a.json": [TABLE[0] | {"value": 0.3}, TABLE[1]]})
    assert path.read_bytes() == before
    store.accept("study", "part", OUTPUTS | {"tables/a.json": [TABLE[0] | {"value": 0.3003}, TABLE[1]]})
    assert json.loads(path.read_text())[0]["value"] == 0.3003


def test_each_row_of_a_table_stands_on_one_line() -> None:
    lines = store.pretty(TABLE).split("\n")
    assert [json.loads(line.strip().rstrip(",")) for line in lines[1:-1]] == TABLE
    assert json.loads(store.pretty(OUTPUTS)) == OUTPUTS


def test_outline_tells_tables_apart_but_for_rounding_errors() -> None:
    rows = [{"name": f"n{place}", "value": place / 7} for place in range(500)]
    found = outline.outline(rows)
    assert (found["rows"], found["columns"]["name"], found["first"]) == (
        500,
        {"values": 500, "different": 500},
        rows[:3],
    )
    errors = [row | {"value": row["value"] * (1 + 1e-13)} for row in rows]
    assert outline.digest(errors) == found["sha256_of_rows"]
    other = [*rows[:-1], rows[-1] | {"value": rows[-1]["value"] * 1.001}]
    assert outline.digest(other) != found["sha256_of_rows"]
    assert "first" not in outline.outline(rows, shown=0)


def test_shortening_keeps_short_tables() -> None:
    value = {"short": [{"a": 1}], "long": [[1, 2], [3, 4], [5, 6]]}
    found = outline.shortened(value, 2)
    assert found["short"] == [{"a": 1}]
    assert found["long"]["rows"] == 3


def test_html_is_read_as_lines_and_cells() -> None:
    page = b"""<html><head><style>p {}</style><title>T</title></head><body><h1>One <b>two</b></h1>
    <script>no()</script>
    <table><tr><th>a<th>b</tr><tr><td>1</td><td>2 &amp; 3</td></tr></table>
    <svg aria-label="A chart"><text>x</text></svg>
    <input type="hidden" value="token"><input value="shown"></body></html>"""
    assert readable.html(page).splitlines() == ["T", "One two", "a | b", "1 | 2 & 3", "[A chart]", "[shown]"]


def test_pdf_is_read_as_lines() -> None:
    source = b"""#set document(title: "x")
#set text(lang: "en")
= A title
Some text (with brackets (and more), a \\\\ and (one that stays open, efficiently *bold*.

#table(columns: 2, [a], [1.25], [b], [-2.5])
#pagebreak()
The end"""
    made = typesetter.compile_pdf(source, {}, at=typesetter._ALWAYS)
    assert readable.pdf(made).splitlines() == [
        "--- page 1",
        "A title",
        "Some text (with brackets (and more), a \\ and (one that stays open, efficiently bold.",
        "a 1.25",
        "b −2.5",
        "--- page 2",
        "The end",
    ]

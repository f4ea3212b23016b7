"""JSON lines and Parquet hold every value as it is, hostile or not; CSV gives it back; the same bytes each time."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis.releases.contents.content_table import ContentColumn, ContentTable
from analysis.releases.formats import release_writer, tabular
from analysis.releases.formats.tabular import BrokenTableError, as_json, iso
from tests.analysis.cases import check_each
from tests.analysis.releases.formats.made import ABOUT, NOON, RESPONSES, TABLES, TEXTS, TOPICS, cells_of, lines, release
from tests.analysis.releases.formats.test_cells import begins_a_formula


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("release") / "cats"
    release(made)
    return made


def expected() -> list[dict]:
    return list(RESPONSES.rows())


def test_json_lines_are_equal_and_in_the_order_of_the_columns(folder):
    assert len(set(TEXTS)) >= 350
    given = [row | {"at": row["at"] and iso(row["at"])} for row in expected()]
    found = lines(folder / "jsonl/responses.jsonl.gz")
    assert found == given
    assert all(list(row) == [column.name for column in RESPONSES.columns] for row in found)
    assert lines(folder / "jsonl/topics.jsonl.gz") == list(TOPICS.rows())


def test_parquet_is_equal(folder):
    given = [row | {"answers": None if row["answers"] is None else as_json(row["answers"])} for row in expected()]
    found = pq.read_table(folder / "parquet/responses.parquet").to_pylist()
    assert found == given
    assert [row["answers"] and json.loads(row["answers"]) for row in found] == [row["answers"] for row in expected()]


def test_no_cell_begins_a_formula_and_every_text_is_given_back(folder):
    given = expected()
    rows = cells_of(folder / "csv/responses.csv")
    assert len(rows) == len(given)
    numbers = {"words", "merit"}
    for row in rows:
        assert not [name for name, cell in row.items() if name not in numbers and begins_a_formula(cell)]
    assert [tabular.original(row["text"]) for row in rows] == TEXTS
    assert [tabular.original(row["note"]) or None for row in rows] == [row["note"] or None for row in given]
    assert [row["words"] for row in rows] == ["" if row["words"] is None else str(row["words"]) for row in given]
    assert [float(row["merit"]) for row in rows if row["merit"]] == [
        r["merit"] for r in given if r["merit"] is not None
    ]
    assert [row["included"] for row in rows] == [{None: "", True: "true", False: "false"}[r["included"]] for r in given]
    assert [row["at"] for row in rows] == ["" if row["at"] is None else iso(row["at"]) for row in given]
    for name in ("answers", "cited"):
        found = [json.loads(tabular.original(row[name])) if row[name] else None for row in rows]
        assert found == [row[name] for row in given]


def test_no_value_and_an_empty_text_differ_in_csv(tmp_path):
    rows = [{"a": None, "b": 1}, {"a": "", "b": None}]
    columns = (
        ContentColumn("a", "text", nullable=True, meaning="a"),
        ContentColumn("b", "integer", nullable=True, meaning="b"),
    )
    release(tmp_path / "t", (ContentTable("t", "A row.", columns, lambda: iter(rows)),))
    assert (tmp_path / "t/csv/t.csv").read_bytes() == b'"a","b"\n,1\n"",\n'


def test_a_table_without_rows_has_its_columns(folder):
    assert lines(folder / "jsonl/judgments.jsonl.gz") == []
    assert pq.read_table(folder / "parquet/judgments.parquet").column_names == ["judgment"]
    assert (folder / "csv/judgments.csv").read_bytes() == b'"judgment"\n'


def test_the_same_tables_give_the_same_bytes(folder, tmp_path):
    release(tmp_path / "again")
    first = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    second = {p.relative_to(tmp_path / "again"): p.read_bytes() for p in (tmp_path / "again").rglob("*") if p.is_file()}
    assert first == second
    assert len(first) > len(TABLES) * 3


def test_many_rows_come_in_several_groups(tmp_path):
    rows = 250_000
    columns = (ContentColumn("n", "integer", nullable=False, meaning="n"),)
    table = ContentTable("many", "A row.", columns, lambda: ({"n": n} for n in range(rows)))
    manifest = release(tmp_path / "many", (table,))
    found = pq.ParquetFile(tmp_path / "many/parquet/many.parquet")
    assert found.metadata.num_rows == rows == manifest["tables"][0]["rows"]
    assert found.metadata.num_row_groups == 3
    assert found.read().column("n").to_pylist() == list(range(rows))


def test_what_is_not_what_its_column_says_is_refused(tmp_path):
    def check(kind, value):
        table = ContentTable(
            "t", "A row.", (ContentColumn("c", kind, nullable=False, meaning="c"),), lambda: iter([{"c": value}])
        )
        with pytest.raises(BrokenTableError, match=r"t\.c"):
            release(tmp_path / "t", (table,))

    values = [
        ("text", 1), ("integer", "1"), ("integer", 2**63), ("number", "x"), ("boolean", 1), ("time", "2026-01-01"),
        ("texts", "abc"), ("texts", [None]), ("text", None), ("json", float("nan")), ("json", {"at": object()}),
        ("text", "\ud800"),
    ]  # fmt: skip
    check_each(values, check)


@pytest.mark.parametrize("row", [{}, {"c": "x", "d": "x"}, {"d": "x"}])
def test_a_row_of_other_columns_is_refused(tmp_path, row):
    table = ContentTable("t", "A row.", (ContentColumn("c", "text", nullable=True, meaning="c"),), lambda: iter([row]))
    with pytest.raises(BrokenTableError, match=r"\bt\b"):
        release(tmp_path / "t", (table,))


def test_whoever_hears_of_the_progress_may_stop_it(tmp_path):
    heard = []

    def stop(table: str, rows: int) -> None:
        heard.append((table, rows))
        if len(heard) == 2:
            raise InterruptedError

    columns = (ContentColumn("at", "time", nullable=False, meaning="at"),)
    table = ContentTable("t", "A row.", columns, lambda: ({"at": NOON} for _ in range(9000)))
    (tmp_path / "t").mkdir()
    with pytest.raises(InterruptedError):
        release_writer.write_files(tmp_path / "t", (table,), ABOUT, report=stop)
    assert heard == [("t", 2000), ("t", 4000)]

"""Writing a release into a folder: every table once through, into all formats at a time; then what is said of it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..contents.left_out import LeftOut
from ..contents.table import Table
from . import describing, published, sinks, trec
from .about import About
from .columns import chunk, schema
from .folder import Folder

# Told after every chunk: the table's name, and how many of its rows are written. May raise, to stop.
Report = Callable[[str, int], None]
Row = dict[str, Any]


def _silent(_table: str, _rows: int) -> None:
    pass


def write(
    root: Path,
    tables: Sequence[Table],
    about: About,
    *,
    layout: Sequence[Table] = (),
    left_out: Callable[[], tuple[LeftOut, ...]] = tuple,
    report: Report = _silent,
) -> dict[str, Any]:
    """Write the whole release into a folder, which is empty, and return its manifest.

    The same tables and the same `about` give the same bytes. `layout` are the tables of the CrowdRAG-25 layout, which
    have their paths for names; `left_out` is asked for what these do not hold when they are written.

    Raises
    ------
    BrokenTableError
        if a row is not what its table says.
    """
    folder = Folder(root)
    for table in tables:
        _table(folder, table, about, report)
    for table in layout:
        published.write(folder, table)
    trec.write(folder, tables)
    return describing.write(folder, tables, replace(about, layout_left_out=left_out()))


def _table(folder: Folder, table: Table, about: About, report: Report) -> None:
    """Write a table in the formats that hold every table, reading it once."""
    types = schema(table, describing.of_every_file(about))
    done = 0
    with ExitStack() as opened:
        into = [
            opened.enter_context(sink)
            for sink in (
                sinks.json_lines(folder, f"jsonl/{table.name}.jsonl.gz", table),
                sinks.parquet(folder, f"parquet/{table.name}.parquet", table, types),
                sinks.spreadsheet(folder, f"csv/{table.name}.csv", table),
            )
        ]
        for columns in table.chunks():
            ready = chunk(table, types, columns)
            for sink in into:
                sink(ready)
            done += ready.arrow.num_rows
            report(table.name, done)

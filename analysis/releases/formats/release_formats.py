"""File formats of the tables in a release: each is a folder of files that describes itself.

To add a format, write its writer in this folder and add it to `FORMATS`: the builder, the page of a release and its
README use that list.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ..contents.content_table import ContentTable
from . import tabular, trec
from .output_folder import Folder
from .tabular import Sink

Tables = Sequence[ContentTable]


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    folder
        Folder of its files in a release.
    purpose
        Purpose, shown on the page of a release.
    description
        Description in README.md.
    suffix
        Suffix of file names after the name of the table.
    open_table
        Opens the file of a table at a path. The rows are passed chunk by chunk, read once for all such formats.
    write_all
        Alternatively, writes all files of the format from the tables of the release and of the CrowdRAG-25 layout.
    """

    folder: str
    purpose: str
    description: str
    suffix: str = ""
    open_table: Callable[[Folder, str, ContentTable, pa.Schema], AbstractContextManager[Sink]] | None = None
    write_all: Callable[[Folder, Tables, Tables], None] | None = None

    def path(self, table: str) -> str:
        """Return the path of a table."""
        return f"{self.folder}/{table}{self.suffix}"


def _write_trec(folder: Folder, tables: Tables, _layout: Tables) -> None:
    trec.write(folder, tables)


def _write_crowdrag25(folder: Folder, _tables: Tables, layout: Tables) -> None:
    for table in layout:
        tabular.write_crowdrag25(folder, table)


JSON_LINES: Final = Format(
    "jsonl",
    "texts unchanged",
    "all tables as gzipped JSON lines, texts unchanged",
    suffix=".jsonl.gz",
    open_table=lambda folder, path, table, _schema: tabular.json_lines(folder, path, table),
)
#: In the order of pages and README.md.
FORMATS: Final = (
    JSON_LINES,
    Format(
        "parquet",
        "typed, for programs",
        "the same with column types, and column descriptions in the metadata",
        suffix=".parquet",
        open_table=tabular.parquet,
    ),
    Format(
        "csv",
        "for spreadsheets",
        "the same for spreadsheets. Cells that look like formulas begin with an apostrophe, so texts differ",
        suffix=".csv",
        open_table=lambda folder, path, table, _schema: tabular.spreadsheet(folder, path, table),
    ),
    Format(
        trec.FOLDER,
        "for information retrieval tools",
        "topics, grades as qrels, and pair preferences for information retrieval tools",
        write_all=_write_trec,
    ),
    Format(
        tabular.FOLDER,
        "CrowdRAG-25 layout",
        "the layout of the CrowdRAG-25 corpus",
        write_all=_write_crowdrag25,
    ),
)

"""The formats in which a release holds its tables: each is a folder of files, and states everything about itself.

To add one, write its writer beside these and its value into `FORMATS`: the builder, the page of a release and its
README follow.
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
    """One format.

    Attributes
    ----------
    folder
        where its files are in a release.
    purpose
        what it is for, on the page of a release.
    description
        what README.md says of it.
    suffix
        what follows the name of a table in the name of its file.
    open_table
        opens a table's file at a path; its rows are given chunk by chunk, read once for all such formats.
    write_all
        or: writes all its files from the tables of the release and from those of the CrowdRAG-25 layout.
    """

    folder: str
    purpose: str
    description: str
    suffix: str = ""
    open_table: Callable[[Folder, str, ContentTable, pa.Schema], AbstractContextManager[Sink]] | None = None
    write_all: Callable[[Folder, Tables, Tables], None] | None = None

    def path(self, table: str) -> str:
        """Return where a table is."""
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
#: In the order in which pages and README.md name them.
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

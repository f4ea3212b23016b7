"""File formats of the tables in a release: each is a folder of files that describes itself.

To add a format, write its writer in this folder and add it to `FORMATS`: the builder, the page of a release and its
README use that list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..contents.content_table import ContentTable
from . import trec
from .output_folder import CROWDRAG25, Folder

# pyarrow is loaded when a release is built: it takes 30 MB in each process.
if TYPE_CHECKING:
    import pyarrow as pa

    from .tabular import Sink

    OpenTable = AbstractContextManager[Sink]

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
    open_table: Callable[[Folder, str, ContentTable, pa.Schema], OpenTable] | None = None
    write_all: Callable[[Folder, Tables, Tables], None] | None = None

    def path(self, table: str) -> str:
        """Return the path of a table."""
        return f"{self.folder}/{table}{self.suffix}"


def _open_json_lines(folder: Folder, path: str, table: ContentTable, _schema: pa.Schema) -> OpenTable:
    from . import tabular

    return tabular.json_lines(folder, path, table)


def _open_parquet(folder: Folder, path: str, table: ContentTable, schema: pa.Schema) -> OpenTable:
    from . import tabular

    return tabular.parquet(folder, path, table, schema)


def _open_csv(folder: Folder, path: str, table: ContentTable, _schema: pa.Schema) -> OpenTable:
    from . import tabular

    return tabular.spreadsheet(folder, path, table)


def _write_trec(folder: Folder, tables: Tables, _layout: Tables) -> None:
    trec.write(folder, tables)


def _write_crowdrag25(folder: Folder, _tables: Tables, layout: Tables) -> None:
    from . import tabular

    for table in layout:
        tabular.write_crowdrag25(folder, table)


JSON_LINES: Final = Format(
    "jsonl",
    "texts unchanged",
    "all tables as gzipped JSON lines, texts unchanged",
    suffix=".jsonl.gz",
    open_table=_open_json_lines,
)
#: In the order of pages and README.md.
FORMATS: Final = (
    JSON_LINES,
    Format(
        "parquet",
        "typed, for programs",
        "the same with column types, and column descriptions in the metadata",
        suffix=".parquet",
        open_table=_open_parquet,
    ),
    Format(
        "csv",
        "for spreadsheets",
        "the same for spreadsheets. Cells that look like formulas begin with an apostrophe, so texts differ",
        suffix=".csv",
        open_table=_open_csv,
    ),
    Format(
        trec.FOLDER,
        "for information retrieval tools",
        "topics, grades as qrels, and pair preferences for information retrieval tools",
        write_all=_write_trec,
    ),
    Format(
        CROWDRAG25,
        "CrowdRAG-25 layout",
        "the layout of the CrowdRAG-25 corpus",
        write_all=_write_crowdrag25,
    ),
)

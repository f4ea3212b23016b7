"""The layout in which CrowdRAG-25 was published: gzipped JSON lines, each file where its readers look for it."""

from itertools import chain, islice

from ..contents.table import Table
from .columns import as_json
from .folder import Folder
from .sinks import JSON_LINES, elsewhere

FOLDER = "crowdrag25"
# Objects of this layout may be large: a topic holds its passages, a state a whole text.
CHUNK = 200


def write(folder: Folder, table: Table) -> None:
    """Write one file of the layout. One without rows is not: readers may take an empty file for a broken one."""
    rows = table.rows()
    if (first := next(rows, None)) is None:
        return
    with (
        folder.gzipped(f"{FOLDER}/{table.name}.jsonl.gz", JSON_LINES, table.meaning) as file,
        elsewhere(file.write) as put,
    ):
        rest = chain([first], rows)
        while chunk := list(islice(rest, CHUNK)):
            put("".join([f"{as_json(row)}\n" for row in chunk]).encode())
            file.rows += len(chunk)

"""The layout in which CrowdRAG-25 was published: gzipped JSON lines, each file where its readers look for it."""

from itertools import chain

from annotation.domain.imports.crowdrag25 import shapes

from ...corpus.published import fields, judged
from ..contents.table import Table
from .columns import as_json, chunks
from .folder import Folder
from .sinks import JSON_LINES

FOLDER = "crowdrag25"


def write(folder: Folder, table: Table) -> None:
    """Write one file of the layout. One without rows is not: readers may take an empty file for a broken one."""
    rows = table.rows()
    if (first := next(rows, None)) is None:
        return
    every = chain([first], rows)
    with folder.gzipped(f"{FOLDER}/{table.name}.jsonl.gz", JSON_LINES, table.meaning) as file:
        if f"{table.name}.jsonl.gz" == fields.path(shapes.EXPERTS):
            # The corpus has all of them in one object: column -> {row number: value}.
            file.write(f"{as_json(judged.as_columns(every))}\n".encode())
            file.rows = 1
            return
        for chunk in chunks(every):
            file.write("".join([f"{as_json(row)}\n" for row in chunk]).encode())
            file.rows += len(chunk)

"""The first rows of a release's tables, as its page shows them."""

from itertools import islice
from typing import Any

from .contents.table import Column, Table

ROWS = 5
#: So many characters of a text are shown; the file holds all of it.
SHOWN = 300


def preview(table: Table) -> list[dict[str, Any]]:
    """Return the first rows of a table, long texts cut."""
    return [{c.name: _shown(c, row[c.name]) for c in table.columns} for row in islice(table.rows(), ROWS)]


def _shown(column: Column, value: Any) -> Any:
    if column.type == "time" and value is not None:
        return value.isoformat()
    text = value if isinstance(value, str) else ""
    return f"{text[:SHOWN]} …" if len(text) > SHOWN else value

"""Tables in Markdown."""

from collections.abc import Iterable, Iterator


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table, then an empty line; nothing if there are no rows."""
    lines = [_line(row) for row in rows]
    if lines:
        names = list(header)
        yield from (_line(names), "|" + "---|" * len(names), *lines, "")


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"

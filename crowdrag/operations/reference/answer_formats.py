"""The reference of the formats of RAG evaluation, from their registry."""

from typing import Final

from writing.corpus.formats.format_registry import FORMATS, PARTS, Format
from writing.corpus.formats.huggingface import ROLES
from writing.corpus.formats.values import Content

from .markdown import table

_BEGINNING: Final = """\
# Formats of RAG evaluation

This page is for everybody who moves answers, judgments or nuggets between CrowdRAG and other tools. It lists every
format, what a file of it holds, and what it cannot hold. It is written from the code (`make reference`).
[Answers in the formats of the field](../guides/answers.md) describes how to import, export and convert them.

A file is read with any line ends, with or without a byte order mark, in UTF-8, and plain or compressed (gzip,
Zstandard). A conversion keeps what both formats can hold, and counts the rest. *Other fields* are those that only one
format knows: they are kept when a file is written in its own format, and lost in any other.
"""
_HEADINGS: Final = {
    Content.REPORTS: "Answers",
    Content.TOPICS: "Topics",
    Content.PASSAGES: "Passages",
    Content.RUN: "Ranked passages",
    Content.QRELS: "Relevance judgments",
    Content.NUGGETS: "Nuggets",
    Content.LEADERBOARD: "Leaderboards",
}


def page() -> str:
    """Return the page."""
    lines = [_BEGINNING]
    for content, heading in _HEADINGS.items():
        formats = [each for each in FORMATS if each.content == content]
        lines += [f"## {heading}", ""]
        lines += table(("format", "written as", "cannot hold", "remarks"), map(_row, formats))
        lines.append("")
    lines += ["## Columns of Hugging Face data sets", ""]
    lines += ["A column is found by the first of these names that the data set has, or given by its role.", ""]
    lines += table(("role", "names"), ((f"`{role}`", ", ".join(f"`{name}`" for name in ROLES[role])) for role in ROLES))
    return "\n".join(lines).rstrip() + "\n"


def _row(each: Format) -> tuple[str, str, str, str]:
    lost = ", ".join(each.cannot_hold) if PARTS[each.content] else ""
    return f"`{each.name}`: {each.title} ({each.source})", f"`{each.suffix}`", lost, " ".join(each.remarks)

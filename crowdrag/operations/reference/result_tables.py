"""The reference of all result tables, from their declarations."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from django.conf import settings

from analysis.experiments.experiment import EXPERIMENTS
from analysis.methods.method import SECTIONS
from analysis.methods.registry import METHODS
from analysis.planning.tables import TABLES as PLAN_TABLES
from analysis.tables.table import Column, Table

PAGE = Path(settings.BASE_DIR, "docs", "reference", "tables.md")
#: Everything above this line is written by hand.
MARK = "<!-- Written by `make reference` from the declarations of the tables: change those. -->"


def reference() -> str:
    """Return the reference: a heading for each part, and each table with its columns."""
    parts: list[tuple[str, list[Table]]] = [
        (str(section.title), [table for method in METHODS if method.section is section for table in method.tables])
        for section in SECTIONS
    ]
    parts.append(("Plans", list(PLAN_TABLES)))
    parts += [(f"Experiments: {experiment.title}", list(experiment.tables)) for experiment in EXPERIMENTS.values()]
    lines = [line for title, tables in parts for line in _part(title, tables)]
    return "\n".join(lines).rstrip() + "\n"


def _part(title: str, tables: list[Table]) -> Iterator[str]:
    yield from (f"## {title}", "")
    for table in tables:
        yield from (f"### {table.name}", "", f"{table.title}. {table.about}".rstrip(), "")
        yield from ("| columns | label | |", "|---|---|---|")
        meanings = dict(table.meanings)
        for column in table.columns:
            yield f"| {_names(column)} | {column.label} | {_meaning(column, meanings)} |"
        yield ""


def _names(column: Column) -> str:
    return ", ".join(f"`{name}`" for name in column.names)


def _meaning(column: Column, meanings: dict[str, str]) -> str:
    """The meaning of a column; a meaning shared by several columns is given with the first."""
    described = [names for names in meanings if set(names.split(", ")) & set(column.names)]
    texts = [f"{_group(names, column)}{meanings.pop(names)}" for names in described]
    if not texts and isinstance(column.words, Mapping):
        texts = [f"`{value}`: {label}" for value, label in column.words.items() if value]
    return "; ".join(texts).replace("|", "\\|")


def _group(names: str, column: Column) -> str:
    others = set(names.split(", ")) - set(column.names)
    return f"({names}) " if others else ""


def page() -> str:
    """Return the new text of docs/reference/tables.md."""
    by_hand = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return f"{by_hand}{MARK}\n\n{reference()}"

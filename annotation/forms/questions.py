"""A campaign's questions as a table that somebody edits: rows that come, go and move before anything is saved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.translation import gettext as _

from writing.forms import questions as table

from ..domain.campaigns.questions import MOST_QUESTIONS, Asked
from ..models import Dimension

FIELDS: Final = ("name", "label", "question", "description", "options")


@dataclass(frozen=True)
class Row:
    """One question as it is edited; `key` tells it from the others while it moves."""

    key: str
    name: str = ""
    label: str = ""
    question: str = ""
    description: str = ""
    options: str = ""
    why: bool = False


def rows_of(dimensions: Iterable[Dimension]) -> list[Row]:
    """Return dimensions as rows."""
    return [
        Row(
            key=f"q{number}",
            name=each.name,
            label=each.label,
            question=each.question,
            description=each.description,
            options="\n".join(f"{option['value']} = {option['label']}" for option in each.options),
            why=each.asks_justification,
        )
        for number, each in enumerate(dimensions)
    ]


def read(given: Mapping[str, Any], keys: Sequence[str]) -> list[Row]:
    """Return the rows that a form sent."""
    return [
        Row(key=key, why=f"why-{key}" in given, **{name: str(given.get(f"{name}-{key}", "")) for name in FIELDS})
        for key in dict.fromkeys(keys[: MOST_QUESTIONS + 1])
    ]


def changed(rows: Sequence[Row], do: str, *, pairwise: bool) -> tuple[list[Row], str]:
    """Return the rows after a button was pressed, and the id of what should have the keyboard then."""
    usual = usual_options(pairwise=pairwise)
    return table.changed(rows, do, fresh=lambda key: Row(key=key, options=usual), first="label")


def usual_options(*, pairwise: bool) -> str:
    """Return the options of a new question, one a line."""
    if pairwise:
        return "\n".join((_("-1 = Response A"), _("0 = Neither"), _("1 = Response B")))
    return "\n".join((_("-3 = very poor"), _("-1 = somewhat poor"), _("1 = somewhat good"), _("3 = very good")))


def asked(rows: Sequence[Row]) -> list[Asked]:
    """Return rows as questions, not yet checked: a short name is made where there is none."""
    named: list[Row] = []
    for row in rows:
        taken = {each.name for each in named} | {each.name for each in rows if each.name}
        named.append(row if row.name.strip() else replace(row, name=table.name_of(row.label or row.question, taken)))
    return [
        Asked(
            name=row.name.strip(),
            label=row.label,
            question=row.question,
            description=row.description,
            options=table.options_of(row.options),
            asks_justification=row.why,
        )
        for row in named
    ]

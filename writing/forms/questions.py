"""A survey's questions as a table that somebody edits: rows that come, go and move before anything is saved."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeVar, cast

from analysis.text.normalization import normalize

from ..domain import surveys

KINDS: Final = ("choice", "scale", "text")
# How a button calls what it does: "up:q3".
MOVES: Final = {"up": -1, "down": 1}
# The group itself is not possessive: Python before 3.11.4 loses what is captured in such a one.
_OPTION = re.compile(r"(?:(-?\d+|[A-Za-z]\w*+)\s*+=\s*+)?(.*)")


class Keyed(Protocol):
    """A row of such a table; `key` tells it from the others while it moves."""

    @property
    def key(self) -> str:
        """What no other row is called."""


R = TypeVar("R", bound=Keyed)


@dataclass(frozen=True)
class Row:
    """One question as it is edited; `key` tells it from the others while it moves."""

    key: str
    text: str = ""
    kind: str = "choice"
    options: str = ""
    low: str = ""
    high: str = ""
    required: bool = True
    name: str = ""


def rows_of(questions: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return stored questions as rows."""
    return [
        Row(
            key=f"q{number}",
            text=each["text"],
            kind=each.get("kind") or ("choice" if each.get("options") else "text"),
            options=_written(each),
            low=each.get("low", ""),
            high=each.get("high", ""),
            required=bool(each.get("required", True)),
            name=each["name"],
        )
        for number, each in enumerate(questions)
    ]


def _written(question: Mapping[str, Any]) -> str:
    """Return options as lines; none for a scale that goes from 1 to 5, as it does where nothing is said."""
    lines = [f"{option['value']} = {option['label']}" for option in question.get("options", [])]
    usual = question.get("kind") == "scale" and lines == [f"{n} = {n}" for n in range(1, 6)]
    return "" if usual else "\n".join(lines)


def read(given: Mapping[str, Any], keys: Sequence[str]) -> list[Row]:
    """Return the rows that a form sent."""
    found = []
    for key in dict.fromkeys(keys[: surveys.MOST_QUESTIONS]):
        fields = {
            name: str(given.get(f"{name}-{key}", "")) for name in ("text", "kind", "options", "low", "high", "name")
        }
        found.append(Row(key=key, **fields, required=f"required-{key}" in given))
    return found


def changed(
    rows: Sequence[R], do: str, *, fresh: Callable[[str], R] | None = None, first: str = "text"
) -> tuple[list[R], str]:
    """Return the rows after a button was pressed, and the id of what should have the keyboard then.

    Parameters
    ----------
    fresh
        makes a row of a key; a row of a survey, unless it is said.
    first
        a row's first field.
    """
    what, _colon, key = do.partition(":")
    rows = list(rows)
    if what == "add" and len(rows) < surveys.MOST_QUESTIONS:
        free = _free_key(rows)
        row = fresh(free) if fresh else cast("R", Row(key=free))
        return [*rows, row], f"{first}-{free}"
    place = next((n for n, row in enumerate(rows) if row.key == key), None)
    if place is None:
        return rows, ""
    if what == "remove":
        del rows[place]
        return rows, f"{first}-{rows[min(place, len(rows) - 1)].key}" if rows else "add"
    if what in MOVES:
        to = min(max(place + MOVES[what], 0), len(rows) - 1)
        rows.insert(to, rows.pop(place))
        return rows, f"{what}-{key}"
    return rows, ""


def questions(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows as questions, not yet checked (`surveys.parse`): a name is made where there is none."""
    named: list[Row] = []
    for row in rows:
        taken = {each.name for each in named} | {each.name for each in rows if each.name}
        named.append(row if row.name.strip() else replace(row, name=name_of(row.text, taken)))
    return [_question(row) for row in named]


def _question(row: Row) -> dict[str, Any]:
    question: dict[str, Any] = {"name": row.name.strip(), "text": row.text.strip(), "kind": row.kind}
    usual = ("1", "2", "3", "4", "5") if row.kind == "scale" else ()
    options = [] if row.kind == "text" else options_of(row.options, usual=usual)
    question |= {"options": options, "required": row.required}
    if row.kind == "scale":
        question |= {end: text.strip() for end, text in (("low", row.low), ("high", row.high)) if text.strip()}
    return question


def options_of(written: str, *, usual: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read options, one a line, "1 = yes" or "yes"; the usual ones where there is none."""
    lines = [line for line in written.splitlines() if line.strip()] or usual
    return [_option(line, number) for number, line in enumerate(lines, start=1)]


def _option(line: str, number: int) -> dict[str, Any]:
    """Read "1 = yes", or "yes", whose value is then its number."""
    matched = _OPTION.fullmatch(line.strip())
    value, label = (matched[1], matched[2]) if matched else (None, line.strip())
    if value is None:
        return {"value": number, "label": label}
    return {"value": int(value) if re.fullmatch(r"-?\d+", value) else value, "label": label}


def name_of(text: str, taken: set[str]) -> str:
    """Return a name made of a question's first words."""
    plain = normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:5]
    name = "_".join(words)[:50].strip("_")
    name = name if name[:1].isalpha() else f"question_{name}".rstrip("_")
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    return made


def _free_key(rows: Sequence[Keyed]) -> str:
    numbers = [int(row.key[1:]) for row in rows if re.fullmatch(r"q\d{1,6}", row.key)]
    return f"q{max(numbers, default=-1) + 1}"

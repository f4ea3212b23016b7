"""Roles of the columns of a CSV file: which there are, and which a column probably has."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from django.db import models

from analysis.text import statements


class ColumnRole(models.TextChoices):
    """The role of a column."""

    IGNORE = "ignore", "Ignore"
    QUESTION = "question", "Query"
    TOPIC = "topic", "Topic ID"
    NARRATIVE = "narrative", "Topic description"
    PASSAGE = "passage", "Passage"
    RESPONSES = "responses", "Responses of one system (named in the header)"
    TEXT = "text", "Response"
    SYSTEM = "system", "Name of the system"
    STYLE = "style", "Style"


#: Roles that at most one column can have.
SINGLE: Final = tuple(role for role in ColumnRole if role not in {"ignore", "passage", "responses"})
#: Matched against the whole name in lower case, without final punctuation and with single spaces between words.
_GUESSES: Final = {
    ColumnRole.QUESTION: r"(question|query|prompt)s?( text)?|(user|search) (question|query)|topic text|title",
    ColumnRole.TOPIC: r"topic|((topic|question|query) ?)?(id|nr|no|number|#)|qid|#",
    ColumnRole.NARRATIVE: r"narrative|description|background",
    ColumnRole.PASSAGE: r"(passage|context|source|document|evidence)s? ?\d*",
    ColumnRole.TEXT: r"(response|answer|output|completion)( text)?|text",
    ColumnRole.SYSTEM: r"(system|model)( name)?|run( id)?|author",
    ColumnRole.STYLE: r"style|format",
}
_NEVER_RESPONSES: Final = r"(note|comment|remark|tag|score|rating|label|date|time|url|link|source url|category|split)s?"
_UNNAMED: Final = re.compile(r"Column \d+")
_NUMBER: Final = re.compile(r"[-+]?[\d.,:/ %-]+")
# A column of responses is not ignored for its short texts if those of all others are as short ("Paris", "Rome").
_FEW_WORDS, _MANY_WORDS = 3, 10
# From this many cells on, a column whose cells are all equal holds no responses.
_CONSTANT = 3
_LONG_NAME = 12


class ColumnsError(ValueError):
    """The roles of the columns are inconsistent; the message is shown to users."""


def guess_roles(columns: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> dict[str, ColumnRole]:
    """Guess each column's role by its name; if there is no system column, other columns contain responses.

    With the first rows of the file, columns whose cells are empty, numeric, constant or much shorter than others are
    ignored, as are columns without a name.
    """
    roles = dict.fromkeys(columns, ColumnRole.IGNORE)
    for role, pattern in _GUESSES.items():
        for column in columns:
            is_free = roles[column] is ColumnRole.IGNORE and (role not in SINGLE or role not in roles.values())
            if is_free and re.fullmatch(pattern, _words(column)):
                roles[column] = role
    if ColumnRole.SYSTEM not in roles.values():
        # Wide layout: each remaining column (and one called "answer") contains the responses of one system.
        left = {ColumnRole.IGNORE, ColumnRole.TEXT}
        named = [column for column, role in roles.items() if role in left]
        responses = set(named) - {column for column in named if re.fullmatch(_NEVER_RESPONSES, _words(column))}
        responses -= _without_responses({column: n for n, column in enumerate(columns) if column in responses}, rows)
        roles |= {column: ColumnRole.RESPONSES if column in responses else ColumnRole.IGNORE for column in named}
    return roles | dict.fromkeys(_row_numbers(roles, rows), ColumnRole.IGNORE)


def is_unnamed(column: str) -> bool:
    """Return whether a column got its name from its number."""
    return _UNNAMED.fullmatch(column) is not None


def looks_like_data(columns: Sequence[str]) -> bool:
    """Return whether a header is probably the first row of a file without one: sentences, and no usual name."""
    if any(re.fullmatch(pattern, _words(column)) for column in columns for pattern in _GUESSES.values()):
        return False
    return any(
        column.rstrip().endswith("?")
        or len(column.split()) > _LONG_NAME
        or statements.without_markers(column) != column
        for column in columns
    )


def check_roles(roles: Mapping[str, str]) -> None:
    """Check that the roles determine what to import.

    Raises
    ------
    ColumnsError
    """
    given = list(roles.values())
    for role in SINGLE:
        if given.count(role) > 1:
            raise ColumnsError(f"Choose “{role.label}” for one column only.")
    if ColumnRole.QUESTION not in given and ColumnRole.TOPIC not in given:
        raise ColumnsError("Choose the column of the queries, or of the topic IDs.")
    if (ColumnRole.TEXT in given) != (ColumnRole.SYSTEM in given):
        raise ColumnsError("Choose both “Response” and “Name of the system”, or neither.")
    if ColumnRole.QUESTION not in given and not {ColumnRole.TEXT, ColumnRole.RESPONSES} & set(given):
        raise ColumnsError("Choose the column of the queries or a column of responses.")


def _words(column: str) -> str:
    return re.sub(r"[\s_-]+", " ", column.lower()).strip(" .:")


def _row_numbers(roles: Mapping[str, ColumnRole], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the column that looks like the questions' IDs but numbers the rows: a question has two of them."""
    of_role = {role: (column, n) for n, (column, role) in enumerate(roles.items())}
    if ColumnRole.QUESTION not in of_role or ColumnRole.TOPIC not in of_role:
        return []
    (_, question), (name, number) = of_role[ColumnRole.QUESTION], of_role[ColumnRole.TOPIC]
    pairs = {(row[question].strip(), row[number].strip()) for row in rows if max(question, number) < len(row)}
    return [name] if len({each for each, _ in pairs}) < len(pairs) else []


def _without_responses(columns: Mapping[str, int], rows: Sequence[Sequence[str]]) -> set[str]:
    """Return the columns, given with their positions, whose cells are hardly responses."""
    if not rows:
        return set()
    cells = {name: [row[n].strip() for row in rows if n < len(row) and row[n].strip()] for name, n in columns.items()}
    words = {name: sum(len(cell.split()) for cell in filled) / max(len(filled), 1) for name, filled in cells.items()}
    longest = max(words.values(), default=0.0)
    return {
        name
        for name, filled in cells.items()
        if is_unnamed(name)
        or not filled
        or all(_NUMBER.fullmatch(cell) for cell in filled)
        or (len(filled) >= _CONSTANT and len(set(filled)) == 1)
        or (words[name] <= _FEW_WORDS and longest >= _MANY_WORDS)
    }

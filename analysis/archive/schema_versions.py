"""Schema versions of archives: later additions, earlier names, and defaults for older archives.

Archives are written in the latest version only; all versions listed here can be read.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Protocol, TypeVar

from writing.enums import TaskState

# Version 2: writing by plan, in sessions, with payment; prompts and responses of language models.
# Version 3: judging in slots, with checks, training and payment; gold labels; judging by language models.
# Version 4: standard names of tables and columns (release 0.2.0).
LATEST = 4
READABLE = range(1, LATEST + 1)
FIRST = 1

Row = Mapping[str, Any]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Named = TypeVar("Named", bound=_Named)


def _unknown(_row: Row) -> None:
    return None


def _lease(row: Row) -> Any:
    """Return no lease for tasks held before leases existed: the next sweep returns them with their drafts."""
    return row["claimed_at"] or row["created_at"] if row["state"] == TaskState.CLAIMED else None


TABLES: dict[str, int] = {
    "writing_instructions": 2,
    "writing_plans": 2,
    "plan_styles": 2,
    "plan_trial_topics": 2,
    "task_transitions": 2,
    "task_payments": 2,
    "editing_sessions": 2,
    "writing_prompts": 2,
    "model_answers": 2,
    "assignment_payments": 3,
    "slots": 3,
    "attention_checks": 3,
    "check_answers": 3,
    "known_labels": 3,
    "training_items": 3,
    "training_answers": 3,
    "item_times": 3,
    "judging_prompts": 3,
    "judging_answers": 3,
    "injection_trials": 3,
    "item_confidences": 4,
    "assignment_choices": 4,
    "practice_answers": 4,
    "campaign_goals": 4,
    "goal_looks": 4,
}
COLUMNS: dict[tuple[str, str], tuple[int, Callable[[Row], Any]]] = {
    ("items", "statement"): (4, _unknown),
    ("items", "retrieved"): (4, _unknown),
    ("participants", "withdrawn_at"): (2, _unknown),
    ("tasks", "slot"): (2, _unknown),
    ("tasks", "is_trial"): (2, lambda _row: False),
    ("tasks", "revises"): (2, _unknown),
    ("tasks", "instructions"): (2, _unknown),
    ("tasks", "pay"): (2, _unknown),
    ("tasks", "lease_until"): (2, _lease),
    ("tasks", "finished_at"): (2, _unknown),
    ("tasks", "seconds"): (2, _unknown),
    ("tasks", "active_seconds"): (2, _unknown),
    ("log_batches", "session"): (2, lambda _row: 0),
    # Default values of these columns when judging was added to the database.
    ("campaigns", "wage_floor"): (3, _unknown),
    ("campaigns", "minutes"): (3, lambda _row: 25),
    ("campaigns", "has_slots"): (3, lambda _row: False),
    ("campaigns", "consent_text"): (3, _unknown),
    ("campaigns", "source"): (3, _unknown),
    ("campaigns", "design"): (3, lambda _row: {}),
    ("campaigns", "eligibility"): (3, lambda _row: {}),
    ("campaigns", "lease_minutes"): (3, lambda _row: 60),
    ("campaigns", "questionnaires_per_person"): (3, lambda _row: 1),
    ("campaigns", "minimum_seconds"): (3, lambda _row: 600),
    ("campaigns", "allows_comments"): (3, lambda _row: True),
    ("campaigns", "opened_at"): (3, _unknown),
    ("campaigns", "closed_at"): (3, _unknown),
    ("questionnaires", "position"): (3, _unknown),
    ("questionnaires", "words"): (3, _unknown),
    ("questionnaire_items", "has_known_label"): (3, lambda _row: False),
    ("assignments", "pay"): (3, _unknown),
    ("assignments", "active_seconds"): (3, _unknown),
    ("assignments", "comment"): (3, lambda _row: ""),
    ("assignment_transitions", "note"): (3, lambda _row: ""),
    ("judgments", "revision"): (3, lambda _row: 1),
    ("writing_plans", "copied_words"): (4, lambda _row: 20),
    # Not shown to judges of earlier campaigns.
    ("campaigns", "shows_passages"): (4, lambda _row: False),
    ("campaigns", "has_practice"): (4, lambda _row: False),
    ("campaigns", "policy"): (4, lambda _row: "FIXED"),
    ("campaigns", "control_share"): (4, lambda _row: 10),
}
# Present names of tables and columns, with the version that introduced the name, and the previous name.
TABLE_NAMES: dict[str, tuple[int, str]] = {
    "editing_sessions": (4, "sittings"),
    "known_labels": (4, "gold_labels"),
    "slots": (4, "places"),
}
COLUMN_NAMES: dict[tuple[str, str], tuple[int, str]] = {
    ("editing_sessions", "superseded_at"): (4, "fenced_at"),
    ("log_batches", "session"): (4, "sitting"),
    ("campaigns", "minimum_seconds"): (4, "least_seconds"),
    ("campaigns", "has_slots"): (4, "has_places"),
    ("campaigns", "allows_comments"): (4, "takes_comments"),
    ("questionnaire_items", "has_known_label"): (4, "is_gold"),
}
# Since version 4, the columns common to all paid work come first; this is the earlier order.
EARLIER_ORDER: dict[str, tuple[str, ...]] = {
    "tasks": (
        *("external_id", "topic", "style", "slot", "is_trial", "revises", "participant", "instructions", "state"),
        *("pay", "created_at", "claimed_at", "lease_until", "finished_at", "submitted_at", "seconds"),
        *("active_seconds", "draft", "is_imported"),
    ),
    "task_transitions": ("task", "before", "after", "cause", "note", "at"),
    "task_payments": ("task", "amount", "reason", "at"),
    "assignments": (
        *("questionnaire", "participant", "external_id", "state", "is_included", "assigned_at", "submitted_at"),
        *("seconds", "lease_until", "pay", "active_seconds", "comment"),
    ),
    "assignment_transitions": ("assignment", "before", "after", "cause", "note", "at"),
    "assignment_payments": ("assignment", "amount", "reason", "at"),
}


def table_name(version: int, table: str) -> str:
    """Return the name of a table in archives of a version."""
    since, earlier = TABLE_NAMES.get(table, (FIRST, table))
    return table if version >= since else earlier


def column_name(version: int, table: str, column: str) -> str:
    """Return the name of a column in archives of a version."""
    since, earlier = COLUMN_NAMES.get((table, column), (FIRST, column))
    return column if version >= since else earlier


def has_table(version: int, table: str) -> bool:
    """Return whether archives of a version have a table."""
    return version >= TABLES.get(table, FIRST)


def has_column(version: int, table: str, column: str) -> bool:
    """Return whether a table has a column in archives of a version."""
    since, _default = COLUMNS.get((table, column), (FIRST, _unknown))
    return version >= since


def in_order(version: int, table: str, columns: Iterable[Named]) -> tuple[Named, ...]:
    """Return the columns of a table in archives of a version, in the order of that version."""
    held = [column for column in columns if has_column(version, table, column.name)]
    if version < 4 and (order := EARLIER_ORDER.get(table)):
        held.sort(key=lambda column: order.index(column.name))
    return tuple(held)


@cache
def _current_names(version: int, table: str) -> dict[str, str]:
    """Return the present names of columns that have another name in archives of a version."""
    names = {column_name(version, name, column): column for name, column in COLUMN_NAMES if name == table}
    return {earlier: column for earlier, column in names.items() if earlier != column}


@cache
def _later_columns(version: int, table: str) -> dict[str, Callable[[Row], Any]]:
    """Return the columns added to a table after a version, with their defaults."""
    return {
        column: default for (name, column), (since, default) in COLUMNS.items() if name == table and since > version
    }


def completed(version: int, table: str, row: Row) -> dict[str, Any]:
    """Convert a row of an archive of a version to present names, and add defaults for later columns."""
    names = _current_names(version, table)
    later = {column: default(row) for column, default in _later_columns(version, table).items()}
    return {names.get(name, name): value for name, value in row.items()} | later

"""What came to archives after their first version, and what an older archive's rows hold in its place.

An archive is written in the latest version only; every version that is named here can be read.
"""

from collections.abc import Callable, Mapping
from typing import Any

from writing.enums import TaskState

# Version 2: people write here, by a plan, in sittings, for money; models are asked, and what they answered is kept.
# Version 3: people judge here, in places, with checks and training, for money; gold labels; models judge by prompts.
LATEST = 3
READABLE = range(1, LATEST + 1)
FIRST = 1

Row = Mapping[str, Any]


def _unknown(_row: Row) -> None:
    return None


def _lease(row: Row) -> Any:
    """Tasks held before leases existed have none: the next sweep returns them with their drafts."""
    return row["claimed_at"] or row["created_at"] if row["state"] == TaskState.CLAIMED else None


TABLES: dict[str, int] = {
    "writing_instructions": 2,
    "writing_plans": 2,
    "plan_styles": 2,
    "plan_trial_topics": 2,
    "task_transitions": 2,
    "task_payments": 2,
    "sittings": 2,
    "writing_prompts": 2,
    "model_answers": 2,
    "assignment_payments": 3,
    "places": 3,
    "attention_checks": 3,
    "check_answers": 3,
    "gold_labels": 3,
    "training_items": 3,
    "training_answers": 3,
    "item_times": 3,
    "judging_prompts": 3,
    "judging_answers": 3,
    "injection_trials": 3,
}
COLUMNS: dict[tuple[str, str], tuple[int, Callable[[Row], Any]]] = {
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
    ("log_batches", "sitting"): (2, lambda _row: 0),
    # What columns hold that the database was given when judging came to it.
    ("campaigns", "wage_floor"): (3, _unknown),
    ("campaigns", "minutes"): (3, lambda _row: 25),
    ("campaigns", "has_places"): (3, lambda _row: False),
    ("campaigns", "consent_text"): (3, _unknown),
    ("campaigns", "source"): (3, _unknown),
    ("campaigns", "design"): (3, lambda _row: {}),
    ("campaigns", "eligibility"): (3, lambda _row: {}),
    ("campaigns", "lease_minutes"): (3, lambda _row: 60),
    ("campaigns", "questionnaires_per_person"): (3, lambda _row: 1),
    ("campaigns", "least_seconds"): (3, lambda _row: 600),
    ("campaigns", "takes_comments"): (3, lambda _row: True),
    ("campaigns", "opened_at"): (3, _unknown),
    ("campaigns", "closed_at"): (3, _unknown),
    ("questionnaires", "position"): (3, _unknown),
    ("questionnaires", "words"): (3, _unknown),
    ("questionnaire_items", "is_gold"): (3, lambda _row: False),
    ("assignments", "pay"): (3, _unknown),
    ("assignments", "active_seconds"): (3, _unknown),
    ("assignments", "comment"): (3, lambda _row: ""),
    ("assignment_transitions", "note"): (3, lambda _row: ""),
    ("judgments", "revision"): (3, lambda _row: 1),
}


def has_table(version: int, table: str) -> bool:
    """Say whether archives of a version hold a table."""
    return version >= TABLES.get(table, FIRST)


def has_column(version: int, table: str, column: str) -> bool:
    """Say whether a table has a column in archives of a version."""
    since, _default = COLUMNS.get((table, column), (FIRST, _unknown))
    return version >= since


def completed(version: int, table: str, row: Row) -> dict[str, Any]:
    """Return a row of an archive of a version with what came later filled in."""
    later = {
        column: default(row)
        for (name, column), (since, default) in COLUMNS.items()
        if name == table and since > version
    }
    return {**row, **later}

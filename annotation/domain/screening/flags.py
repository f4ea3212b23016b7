"""What speaks against questionnaires, as reviewers were shown it: a flag that was shown once stays.

Some figures compare a judge with others, whose answers come in and are rejected meanwhile. A questionnaire that
a reviewer has seen among the flagged ones must not slip into those that are accepted together, so what is shown is kept
until somebody decides. Later figures are added to it.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from ...enums import AssignmentState
from ...models import Assignment, ShownFlag
from . import evidence, signals
from .signals import Proposes, Signal


def of(assignments: Sequence[Assignment]) -> dict[int, list[Signal]]:
    """Return what speaks against each assignment now, and what was shown before, the strongest first."""
    works = evidence.works(assignments)
    kept: dict[int, list[ShownFlag]] = defaultdict(list)
    for row in ShownFlag.objects.filter(assignment__in=[each.pk for each in assignments]).order_by("pk"):
        kept[row.assignment_id].append(row)
    return {each.pk: _merged(signals.of(works[each.pk]), kept[each.pk]) for each in assignments}


def show(assignments: Sequence[Assignment], now: datetime) -> dict[int, list[Signal]]:
    """Return the same, and keep what is shown of those that wait for a decision."""
    found = of(assignments)
    ShownFlag.objects.bulk_create(
        (
            ShownFlag(
                assignment=each, name=signal.name, words=signal.words, proposes=int(signal.proposes),
                evidence=signal.evidence, shown_at=now,
            )
            for each in assignments
            if each.state == AssignmentState.SUBMITTED
            for signal in found[each.pk]
        ),
        ignore_conflicts=True,
    )  # fmt: skip
    return found


def _merged(now: list[Signal], kept: list[ShownFlag]) -> list[Signal]:
    there = {signal.name for signal in now}
    before = [
        Signal(row.name, row.words, Proposes(row.proposes), row.evidence) for row in kept if row.name not in there
    ]
    return sorted([*now, *before], key=lambda each: -each.proposes)

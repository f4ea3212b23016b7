"""Flags of questionnaires as reviewers saw them, and the proposed decision. A person decides."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ...enums import AssignmentState
from ...models import Assignment, ShownFlag
from . import evidence, signals
from .signals import ProposedAction, Signal


@dataclass(frozen=True)
class Proposal:
    """Accept, look, or reject; and the signals that say so."""

    what: ProposedAction
    reasons: tuple[Signal, ...]

    @property
    def name(self) -> str:
        """`accept`, `look` or `reject`."""
        return self.what.name.lower()

    @property
    def label(self) -> str:
        """What is proposed, as people read it."""
        return {
            ProposedAction.ACCEPT: "no signals",
            ProposedAction.LOOK: "check",
            ProposedAction.REJECT: "reject, unless there is an innocent cause",
        }[self.what]

    @property
    def tone(self) -> str:
        """How a badge shows it."""
        return {ProposedAction.ACCEPT: "good", ProposedAction.LOOK: "info", ProposedAction.REJECT: "warn"}[self.what]


def propose(signals: Sequence[Signal]) -> Proposal:
    """Return what the strongest of the signals proposes."""
    what = max((signal.proposes for signal in signals), default=ProposedAction.ACCEPT)
    return Proposal(what, tuple(signals))


def flags_of(assignments: Sequence[Assignment]) -> dict[int, list[Signal]]:
    """Return what speaks against each assignment now, and what was shown before, the strongest first."""
    works = evidence.collect_work(assignments)
    kept: dict[int, list[ShownFlag]] = defaultdict(list)
    for row in ShownFlag.objects.filter(assignment__in=[each.pk for each in assignments]).order_by("pk"):
        kept[row.assignment_id].append(row)
    return {each.pk: _merged(signals.signals_of(works[each.pk]), kept[each.pk]) for each in assignments}


def record_flags(assignments: Sequence[Assignment], now: datetime) -> dict[int, list[Signal]]:
    """Return the same, and keep what is shown of those that wait for a decision."""
    flags = flags_of(assignments)
    ShownFlag.objects.bulk_create(
        (
            ShownFlag(
                assignment=each, name=signal.name, words=signal.words, proposes=int(signal.proposes),
                evidence=signal.evidence, shown_at=now,
            )
            for each in assignments
            if each.state == AssignmentState.SUBMITTED
            for signal in flags[each.pk]
        ),
        ignore_conflicts=True,
    )  # fmt: skip
    return flags


def _merged(now: list[Signal], kept: list[ShownFlag]) -> list[Signal]:
    names = {signal.name for signal in now}
    before = [
        Signal(row.name, row.words, ProposedAction(row.proposes), row.evidence) for row in kept if row.name not in names
    ]
    return sorted([*now, *before], key=lambda each: -each.proposes)

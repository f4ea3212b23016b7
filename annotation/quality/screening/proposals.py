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
    """The proposal to accept, look at or reject a questionnaire, with the signals that support it."""

    what: ProposedAction
    reasons: tuple[Signal, ...]

    @property
    def name(self) -> str:
        """`accept`, `look` or `reject`."""
        return self.what.name.lower()

    @property
    def label(self) -> str:
        """The displayed label of the proposal."""
        return {
            ProposedAction.ACCEPT: "no flags",
            ProposedAction.LOOK: "check",
            ProposedAction.REJECT: "likely reject",
        }[self.what]

    @property
    def tone(self) -> str:
        """The tone of the badge."""
        return {ProposedAction.ACCEPT: "good", ProposedAction.LOOK: "info", ProposedAction.REJECT: "warn"}[self.what]


def propose(signals: Sequence[Signal]) -> Proposal:
    """Return the proposal of the strongest signal."""
    what = max((signal.proposes for signal in signals), default=ProposedAction.ACCEPT)
    return Proposal(what, tuple(signals))


def flags_of(assignments: Sequence[Assignment]) -> dict[int, list[Signal]]:
    """Return the current signals of each assignment and those shown before, strongest first."""
    works = evidence.collect_work(assignments)
    kept: dict[int, list[ShownFlag]] = defaultdict(list)
    for row in ShownFlag.objects.filter(assignment__in=[each.pk for each in assignments]).order_by("pk"):
        kept[row.assignment_id].append(row)
    return {each.pk: _merged(signals.signals_of(works[each.pk]), kept[each.pk]) for each in assignments}


def record_flags(assignments: Sequence[Assignment], now: datetime) -> dict[int, list[Signal]]:
    """Return the signals like `flags_of`, and store those shown of assignments that await a decision."""
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

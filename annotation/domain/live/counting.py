"""Collected against asked: by questionnaire and in all; what was lost on the way, with rates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from analysis.stats.proportions import Proportion, wilson

from ...enums import HOLDING, AssignmentState
from .rows import Row, Sheet

S = AssignmentState
# They came to nothing, or to nothing that is needed.
CAME_TO_NOTHING = (S.RETURNED, S.TIMED_OUT, S.WITHDRAWN, S.SURPLUS)


@dataclass
class Standing:
    """How many assignments are in which state; `asked` is how many are to be accepted in the end."""

    name: str = ""
    asked: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(AssignmentState.values, 0))

    @property
    def accepted(self) -> int:
        """How many were accepted."""
        return self.counts[S.ACCEPTED]

    @property
    def waiting(self) -> int:
        """How many were handed in and wait for a reviewer."""
        return self.counts[S.SUBMITTED]

    @property
    def in_work(self) -> int:
        """How many are in somebody's hands."""
        return self.counts[S.ASSIGNED]

    @property
    def surplus(self) -> int:
        """How many were handed in late, when no place was free any more."""
        return self.counts[S.SURPLUS]

    @property
    def lost(self) -> int:
        """How many were given back, timed out, or were withdrawn."""
        return self.counts[S.RETURNED] + self.counts[S.TIMED_OUT] + self.counts[S.WITHDRAWN]

    @property
    def rejected(self) -> int:
        """How many were rejected."""
        return self.counts[S.REJECTED]

    @property
    def collected(self) -> int:
        """How many are there: accepted, or waiting for a reviewer."""
        return self.accepted + self.waiting

    @property
    def free(self) -> int:
        """How many places nobody holds."""
        return max(self.asked - sum(self.counts[state] for state in HOLDING), 0)

    @property
    def given(self) -> int:
        """How many were given out, whatever came of them."""
        return sum(self.counts.values())

    @property
    def share(self) -> float | None:
        """Which share of what is asked for is there."""
        return self.collected / self.asked if self.asked else None

    @property
    def is_complete(self) -> bool:
        """Whether all that was asked for is accepted."""
        return bool(self.asked) and self.accepted >= self.asked


@dataclass(frozen=True)
class Rate:
    """How many questionnaires came to this, and which share they are of those that could have: `of` says which."""

    name: str
    label: str
    count: int
    share: Proportion
    of: str


def by_questionnaire(rows: Iterable[Row], sheets: Sequence[Sheet]) -> list[Standing]:
    """Return where each questionnaire stands, in the order in which they are handed out."""
    found = {sheet.pk: Standing(sheet.name, sheet.asked) for sheet in sheets}
    for row in rows:
        if row.questionnaire in found:
            found[row.questionnaire].counts[row.state] += 1
    return list(found.values())


def total(standings: Iterable[Standing]) -> Standing:
    """Return the sum."""
    whole = Standing()
    for each in standings:
        whole.asked += each.asked
        for state, number in each.counts.items():
            whole.counts[state] += number
    return whole


def rates(whole: Standing) -> list[Rate]:
    """Return what was lost of the questionnaires that are out of people's hands, and what was rejected of the decided.

    Shares have score intervals: they hold for few, and stay between 0 and 1.
    """
    ended = whole.given - whole.in_work
    decided = whole.accepted + whole.rejected
    of_ended, of_decided = _("out of people's hands"), _("decided")
    labels = {
        S.RETURNED: _("Given back"),
        S.TIMED_OUT: _("Timed out"),
        S.WITHDRAWN: _("Withdrawn by their judges"),
        S.SURPLUS: _("Surplus: late, and not needed"),
    }
    found = [
        Rate(state.lower(), labels[state], whole.counts[state], wilson(whole.counts[state], ended), of_ended)
        for state in CAME_TO_NOTHING
    ]
    return [
        *found,
        Rate("rejected", _("Rejected"), whole.rejected, wilson(whole.rejected, decided), of_decided),
        Rate("accepted", _("Accepted"), whole.accepted, wilson(whole.accepted, decided), of_decided),
    ]

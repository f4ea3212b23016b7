"""Where tasks stand, by style."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...enums import TaskState
from .rows import Group

TRIAL = "trial"
NONE_YET = dict.fromkeys(TaskState.values, 0)


@dataclass
class Standing:
    """How many tasks of a style are in which state; `asked` is None where no plan asks for any.

    A response that was erased counts in no state: it fills no slot and can be read by nobody. `erased` tells them.
    """

    name: str
    label: str
    asked: int | None = None
    counts: dict[str, int] = field(default_factory=NONE_YET.copy)
    erased: int = 0

    def add(self, group: Group) -> None:
        """Count tasks."""
        if group.is_erased:
            self.erased += group.n
        else:
            self.counts[group.state] += group.n

    @property
    def done(self) -> int:
        """How many texts are there that fill a slot: accepted, or waiting for a reviewer."""
        return self.counts[TaskState.ACCEPTED] + self.counts[TaskState.SUBMITTED]

    @property
    def missing(self) -> int | None:
        """How many are still to be written."""
        return None if self.asked is None else max(self.asked - self.done, 0)

    @property
    def share(self) -> float | None:
        """Which share of what is asked for is there."""
        return min(self.done / self.asked, 1) if self.asked else None


def by_style(groups: Iterable[Group], asked: Mapping[str, tuple[str, int]]) -> list[Standing]:
    """Return where tasks stand by style, in the plan's order, then those that are asked for no more.

    `asked` maps a style's name to its label and how many responses the plan asks for. Versions of a style are one.
    """
    found = {name: Standing(name, label, number) for name, (label, number) in asked.items()}
    for group in groups:
        if not group.is_trial:
            found.setdefault(group.style, Standing(group.style, group.style_label)).add(group)
    return list(found.values())


def trials(groups: Iterable[Group]) -> Standing | None:
    """Return where trial tasks stand; None if there are none."""
    tried = [group for group in groups if group.is_trial]
    if not tried:
        return None
    standing = Standing(TRIAL, "")
    for group in tried:
        standing.add(group)
    return standing


def total(standings: Iterable[Standing], label: str = "") -> Standing:
    """Return the sum of styles; what is asked for is known if it is for one of them."""
    whole = Standing("", label)
    for each in standings:
        if each.asked is not None:
            whole.asked = (whole.asked or 0) + each.asked
        whole.erased += each.erased
        for state, number in each.counts.items():
            whole.counts[state] += number
    return whole

"""What a campaign is to find out about systems: the best one, a difference, a ranking, or grades to a given width."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

#: The name of all people together, who are one system.
PEOPLE: Final = "human"


class GoalKind(StrEnum):
    """The kinds of goals."""

    BEST = "best"
    BETTER = "better"
    RANKING = "ranking"
    WIDTH = "width"


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal about the mean grades of systems on one dimension.

    Attributes
    ----------
    kind : GoalKind
        `best`: which of the systems is best; `better`: whether the first is better than the second by more than
        `margin`; `ranking`: the order of all systems; `width`: an interval of each system's mean no wider than `width`.
    systems : tuple of str
        Names of the systems, each once; exactly two for `better`.
    margin : float
        A difference of mean grades (1 worst to n best of a topic, docs/methods/grades.md); only for `better`.
    width : float or None
        The full width of an interval of a mean grade; only for `width`.
    confidence : float
        Probability with which no decision is false, over all looks.

    Raises
    ------
    ValueError
        if the values contradict each other.
    """

    kind: GoalKind
    systems: tuple[str, ...]
    margin: float = 0.0
    width: float | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if len(set(self.systems)) != len(self.systems) or len(self.systems) < 2:
            raise ValueError(f"A goal needs at least two systems, each once, not {self.systems!r}.")
        if self.kind == GoalKind.BETTER and len(self.systems) != 2:
            raise ValueError(f"A comparison needs exactly two systems, not {len(self.systems)}.")
        if self.margin < 0 or (self.margin and self.kind != GoalKind.BETTER):
            raise ValueError(f"Only a comparison has a margin, which is not negative; this one is {self.margin}.")
        if (self.kind == GoalKind.WIDTH) != (self.width is not None and self.width > 0):
            raise ValueError(f"A goal of the kind {self.kind} cannot have the width {self.width}.")
        if not 0.5 < self.confidence < 1:
            raise ValueError(f"The confidence lies between 0.5 and 1, not at {self.confidence}.")

"""What a campaign's page says about its goal: the answer or what is expected, and the intervals at each look."""

from dataclasses import dataclass
from typing import Any, Final

from ..campaigns import goals
from ..enums import GoalKind, GoalOutcome
from ..models import Campaign, CampaignGoal, GoalLook
from .queries import StateCounts

#: Rows of the table, and points of the chart: of more looks, some are left out.
ROWS: Final = 12
POINTS: Final = 120


@dataclass(frozen=True)
class Estimate:
    """A mean grade or a difference of two, in words, with its interval; numbers are None if there is none yet."""

    label: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Expected:
    """What is expected until decided, at the present number of votes in a questionnaire.

    `more`, `fewest` and `most` are further votes: half, a tenth and nine tenths of futures are decided by then. None if
    fewer are.
    """

    chance: float
    more: int | None
    fewest: int | None
    most: int | None
    cost: int | None


@dataclass(frozen=True)
class GoalProgress:
    """A campaign's goal, and what is known; `decided` is the first look that decided it."""

    goal: CampaignGoal
    latest: GoalLook | None
    decided: GoalLook | None
    looks: list[GoalLook]
    expected: Expected | None

    @property
    def question(self) -> str:
        """The question in words."""
        return goals.describe(self.goal)

    @property
    def outcome(self) -> str:
        """The outcome: a decision stays, whatever later looks say; empty before the first look."""
        shown = self.decided or self.latest
        return shown.outcome if shown else ""

    @property
    def answer(self) -> str:
        """The answer in words; empty if undecided."""
        if self.decided is None:
            return ""
        named, kind = [goals.label_of(name) for name in self.decided.answer or ()], self.goal.kind
        if kind == GoalKind.BEST:
            return f"{named[0]}: the best mean grade."
        if kind == GoalKind.RANKING:
            return ", ".join(f"{rank}. {name}" for rank, name in enumerate(named, start=1))
        if kind == GoalKind.WIDTH:
            return f"All intervals are at most {self.goal.width:g} grades wide."
        first, second = (goals.label_of(name) for name in self.goal.systems)
        margin = f" by more than {self.goal.margin:g} grades" if self.goal.margin else ""
        return f"{first} is {'' if named else 'not '}better than {second}{margin}."

    @property
    def estimates(self) -> list[Estimate]:
        """The estimates of the look that is shown."""
        shown = self.decided or self.latest
        return estimates_of(self.goal, shown) if shown else []

    @property
    def rows(self) -> list[tuple[GoalLook, list[Estimate]]]:
        """Some of the looks for a table, latest first, with their estimates."""
        return [(look, estimates_of(self.goal, look)) for look in thinned(self.looks, ROWS)[::-1]]

    @property
    def has_intervals(self) -> bool:
        """Whether there is an interval at any look."""
        return any(each.low is not None for look in self.looks for each in estimates_of(self.goal, look))

    @property
    def mark(self) -> str:
        """What changes if anything that is shown does."""
        latest = self.latest.pk if self.latest else 0
        closed = self.decided.closed_at if self.decided else None
        return f"{latest}-{closed}-{self.goal.closes_campaign}-{self.question}"


def estimates_of(goal: CampaignGoal, look: GoalLook) -> list[Estimate]:
    """Return the differences of a look, or the mean grades if the goal is their width."""
    if goal.kind == GoalKind.WIDTH:
        return [Estimate(goals.label_of(row["system"]), row["grade"], row["low"], row["high"]) for row in look.grades]
    return [
        Estimate(
            f"{goals.label_of(row['first'])} minus {goals.label_of(row['second'])}", row["difference"], row["low"],
            row["high"],
        )
        for row in look.comparisons
    ]  # fmt: skip


def thinned(looks: list[GoalLook], number: int) -> list[GoalLook]:
    """Return at most this many looks, evenly spaced, with the last one."""
    if len(looks) <= number:
        return looks
    step = (len(looks) - 1) / (number - 1)
    return [looks[round(index * step)] for index in range(number)]


def goal_progress(campaign: Campaign, counts: StateCounts) -> GoalProgress | None:
    """Return what is known about a campaign's goal; None if it has none."""
    goal = goals.find_goal(campaign)
    if goal is None:
        return None
    looks = list(GoalLook.objects.filter(campaign=campaign).order_by("at", "pk"))
    latest = looks[-1] if looks else None
    decided = next((look for look in looks if look.outcome == GoalOutcome.DECIDED), None)
    expected = None if latest is None or decided is not None else _expected(campaign, latest, counts)
    return GoalProgress(goal, latest, decided, looks, expected)


def chart_rows(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the estimates of some looks as rows of a chart, in order: number of votes, label, value, low, high."""
    goal = goals.find_goal(campaign)
    if goal is None:
        return []
    looks = thinned(list(GoalLook.objects.filter(campaign=campaign).order_by("at", "pk")), POINTS)
    return [
        {"votes": look.votes, "label": each.label, "value": each.value, "low": each.low, "high": each.high,
         "margin": goal.margin if goal.kind == GoalKind.BETTER else 0.0, "is_difference": goal.kind != GoalKind.WIDTH}
        for look in looks
        for each in estimates_of(goal, look)
        if each.low is not None
    ]  # fmt: skip


def _expected(campaign: Campaign, look: GoalLook, counts: StateCounts) -> Expected | None:
    if look.forecast is None:
        return None
    fewest, more, most = (
        None if votes is None else max(0, round(votes) - look.votes) for votes in look.forecast["votes"]
    )
    cost = None
    if more is not None and look.votes and counts.collected:
        each = sum(amount or 0 for amount in (campaign.pay, campaign.fee, campaign.tax))
        cost = round(more / (look.votes / counts.collected) * each)
    return Expected(look.forecast["chance"], more, fewest, most, cost)

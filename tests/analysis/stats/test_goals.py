"""Goals of campaigns refuse values that contradict each other."""

import pytest

from analysis.stats.goals import Goal, GoalKind


@pytest.mark.parametrize(
    "values",
    [
        {"kind": GoalKind.BEST, "systems": ("a",)},
        {"kind": GoalKind.BEST, "systems": ("a", "a")},
        {"kind": GoalKind.BETTER, "systems": ("a", "b", "c")},
        {"kind": GoalKind.BETTER, "systems": ("a", "b"), "margin": -0.5},
        {"kind": GoalKind.RANKING, "systems": ("a", "b"), "margin": 0.5},
        {"kind": GoalKind.WIDTH, "systems": ("a", "b")},
        {"kind": GoalKind.RANKING, "systems": ("a", "b"), "width": 0.5},
        {"kind": GoalKind.BEST, "systems": ("a", "b"), "confidence": 1.0},
    ],
)
def test_a_contradiction_is_refused(values):
    with pytest.raises(ValueError, match=r"\w"):
        Goal(**values)


def test_a_comparison_takes_a_margin_and_a_width_goal_its_width():
    assert Goal(GoalKind.BETTER, ("a", "b"), margin=0.5).margin == 0.5
    assert Goal(GoalKind.WIDTH, ("a", "b", "c"), width=0.4).confidence == 0.95

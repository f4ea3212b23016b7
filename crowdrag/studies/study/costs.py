"""Spending of a study on models and participants. Each app registers its own."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any

from .models import Study


@dataclass(frozen=True)
class SpendingLine:
    """The cost of one kind of work, in minor units of the study's currency.

    Attributes
    ----------
    label, url_name
        its label, and the page with details.
    spent
        what was paid or is owed, with fees.
    waiting
        what is added if everything that awaits a decision is accepted.
    budget
        the limit, if there is one.
    wages
        hourly earnings, one figure for each piece of work whose time is known.
    without_simulated
        whether there is simulated work, which is not included.
    """

    label: str
    url_name: str
    spent: Decimal | int
    waiting: int = 0
    budget: int | None = None
    wages: tuple[float, ...] = ()
    without_simulated: bool = False


_sources: list[Callable[[Study], SpendingLine | None]] = []


def register_spending(source: Callable[[Study], SpendingLine | None]) -> None:
    """Add an app's source of spending (None if there was none); called once from an app's `ready`."""
    _sources.append(source)


def spending_card(study: Study) -> dict[str, Any] | None:
    """Return the spending card of the overview; None if nothing was spent and nothing is pending."""
    answers = (source(study) for source in _sources)
    lines = [line for line in answers if line is not None]
    if not lines:
        return None
    wages = [wage for line in lines for wage in line.wages]
    return {
        "lines": lines,
        "spent": sum(line.spent for line in lines),
        "waiting": sum(line.waiting for line in lines),
        "median_wage": median(wages) if wages else None,
        "without_simulated": any(line.without_simulated for line in lines),
    }

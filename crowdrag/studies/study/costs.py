"""What a study has spent: models and participants. Each app registers what it knows."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any

from .models import Study


@dataclass(frozen=True)
class SpendingLine:
    """What one kind of work has cost, in minor units of the study's currency.

    Attributes
    ----------
    label, url_name
        what it is called, and the page that shows more.
    spent
        what was paid or is owed, with fees.
    waiting
        what is added if everything that waits for a decision is accepted.
    budget
        the limit, if there is one.
    wages
        what people earned in an hour, one figure for each piece of work whose time is known.
    """

    label: str
    url_name: str
    spent: Decimal | int
    waiting: int = 0
    budget: int | None = None
    wages: tuple[float, ...] = ()


_sources: list[Callable[[Study], SpendingLine | None]] = []


def register_spending(source: Callable[[Study], SpendingLine | None]) -> None:
    """Add what an app knows (None where it has cost nothing); called once from an app's `ready`."""
    _sources.append(source)


def spending_card(study: Study) -> dict[str, Any] | None:
    """Return what the overview shows of a study's money; None if nothing was spent and nothing is waiting."""
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
    }

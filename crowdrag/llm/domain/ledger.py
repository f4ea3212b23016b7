"""Money: held before a call is sent, settled when its outcome is known, and never more than the study's budget.

What is held for a call is the upper bound of its cost, in one conditional update of the study's row, so that any number
of processes may ask at once. Spent and held together never pass the budget; a study can only come out above it if a
server bills more tokens than it was allowed to make, and then by no more than that excess for the calls in flight.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.db import transaction
from django.db.models import Case, F, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from crowdrag.studies import money
from crowdrag.studies.models import Study

from ..enums import AttemptState, Fault
from ..models import Attempt, Endpoint, Spend
from .errors import GatewayError

ZERO = Decimal(0)
OPEN_STATES = (AttemptState.INTENDED, AttemptState.UNKNOWN)


class BudgetError(GatewayError):
    """A study may not ask an endpoint that costs money."""


class BudgetExceededError(BudgetError):
    """The next call could pass the study's budget."""


class Totals(NamedTuple):
    """What the attempts of a study sum to."""

    held: Decimal
    settled: Decimal


def admit(*, study: Study, endpoint: Endpoint) -> None:
    """Check that a study may ask an endpoint at all: free, or with a budget in the currency of its prices."""
    if endpoint.is_free:
        return
    if study.llm_budget is None:
        raise BudgetError(
            _(
                "“%(endpoint)s” costs money and the study “%(study)s” has no budget for models. "
                "Give it one, in %(currency)s."
            )
            % {"endpoint": endpoint, "study": study, "currency": endpoint.currency}
        )
    if study.currency != endpoint.currency:
        raise BudgetError(
            _(
                "“%(endpoint)s” is priced in %(price)s and the study's budget is in %(budget)s. "
                "Enter the endpoint's prices in the study's currency."
            )
            % {"endpoint": endpoint, "price": endpoint.currency, "budget": study.currency}
        )
    Spend.objects.get_or_create(study=study)


def hold(*, study: Study | None, amount: Decimal) -> bool:
    """Hold money for a call about to be sent; false where the budget does not allow it.

    One UPDATE whose condition reads only the row it changes (and the budget): under READ COMMITTED, PostgreSQL checks
    it again on the newest version of the row after waiting for another's update, so that no two can both take the rest.
    """
    if study is None or not amount:
        return True
    budget = Subquery(Study.objects.filter(pk=study.pk).values("llm_budget")[:1])
    rows = Spend.objects.filter(study_id=study.pk).alias(budget=budget)
    return bool(rows.filter(budget__gte=F("settled") + F("held") + amount).update(held=F("held") + amount))


def exceeded(*, study: Study, currency: str, amount: Decimal) -> BudgetExceededError:
    """Return the error that says what is left and what the next call may cost."""
    study.refresh_from_db(fields=["llm_budget"])
    return BudgetExceededError(
        _(
            "The budget for models of “%(study)s” (%(budget)s) would be passed: "
            "the next call may cost %(amount)s and %(left)s is left. "
            "What is answered is kept; raise the budget and resume."
        )
        % {
            "study": study,
            "budget": money.format_amount(study.llm_budget or 0, currency),
            "amount": money.format_cost(amount, currency),
            "left": money.format_cost(left(study=study) or ZERO, currency),
        }
    )


def settle(*, study: Study | None, bound: Decimal, cost: Decimal) -> None:
    """Move an attempt's money from held to settled, in the transaction that settles the attempt."""
    if study is not None and (bound or cost):
        Spend.objects.filter(study_id=study.pk).update(held=F("held") - bound, settled=F("settled") + cost)


@transaction.atomic
def settle_unknown(*, attempts: Iterable[Attempt], cost: Decimal = ZERO) -> int:
    """Settle attempts whose outcome was unknown at what the provider's bill says (nothing, by default)."""
    settled = 0
    ids = [attempt.pk for attempt in attempts]
    for attempt in Attempt.objects.select_for_update().unsettled().filter(pk__in=ids).order_by("id"):
        settle(study=attempt.study, bound=attempt.bound, cost=cost)
        attempt.state, attempt.cost = AttemptState.FAILED, cost
        attempt.save(update_fields=["state", "cost"])
        settled += 1
    return settled


def give_up_lost(*, now: datetime) -> int:
    """Mark attempts whose sender was lost as unknown; they stay charged at their upper bound."""
    return Attempt.objects.lost(now).update(
        state=AttemptState.UNKNOWN, fault=Fault.LOST, ended_at=now, error=_("The process that asked was lost.")
    )


def audit(*, study: Study) -> tuple[Totals, Totals]:
    """Return what the study's attempts sum to and what its counter says; they are equal, always."""
    sums = Attempt.objects.filter(study=study).aggregate(
        held=Coalesce(Sum(Case(When(state__in=OPEN_STATES, then=F("cost")), default=Value(ZERO))), ZERO),
        settled=Coalesce(Sum(Case(When(state__in=OPEN_STATES, then=Value(ZERO)), default=F("cost"))), ZERO),
    )
    counter = Spend.objects.filter(study=study).first() or Spend(study=study)
    return Totals(sums["held"], sums["settled"]), Totals(Decimal(counter.held), Decimal(counter.settled))


def left(*, study: Study) -> Decimal | None:
    """Return what is left of a study's budget, or None where it has none."""
    if study.llm_budget is None:
        return None
    spend = Spend.objects.filter(study=study).first()
    return Decimal(study.llm_budget) - (spend.total if spend else ZERO)

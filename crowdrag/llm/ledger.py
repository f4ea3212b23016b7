"""Money: the maximum cost of a call is held before it is sent, and settled when its outcome is known.

The upper bound of a call's cost is held by one conditional update of the study's row, so that any number of processes
may send at once. Spent and held together never exceed the budget, unless a server bills more tokens than it was allowed
to generate; then only by that excess for the calls in flight.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet, Subquery, Sum

from crowdrag.studies import money
from crowdrag.studies.models import Study
from crowdrag.studies.study.costs import SpendingLine

from . import GatewayError
from .enums import AttemptState, Fault
from .models import Attempt, Endpoint, StudySpend

MILLION = Decimal(1_000_000)
# Chat templates wrap each message, and some servers prepend lines of their own.
TOKENS_PER_MESSAGE = 16
TOKENS_PER_REQUEST = 64
# Reported usage up to this multiple of what we allowed is believed; beyond it the figure is absurd.
CREDIBLE_FACTOR = 4


@dataclass(frozen=True)
class TokenUsage:
    """The tokens with which a call is booked, or their bound; estimated if the server's figures were not used."""

    prompt_tokens: int
    completion_tokens: int
    usage_estimated: bool = False


def bound_tokens(*, messages: Sequence[dict[str, str]], extra: Any, completion: int) -> TokenUsage:
    """Return the maximum number of tokens that a call can be billed for, if the server respects the request.

    No tokeniser in use makes more tokens than a text has bytes (they all fall back to bytes), so bytes are a bound
    that needs no tokeniser; `extra` is any other content that may count (a schema).
    """
    size = sum(len(message["content"].encode()) for message in messages)
    size += len(json.dumps(extra, ensure_ascii=False).encode()) if extra is not None else 0
    return TokenUsage(size + TOKENS_PER_MESSAGE * len(messages) + TOKENS_PER_REQUEST, completion)


def price(*, endpoint: Endpoint, prompt: int, completion: int) -> Decimal:
    """Return the exact price of these tokens, in minor units."""
    return (prompt * endpoint.input_price + completion * endpoint.output_price) / MILLION


def read_usage(reported: Any, *, most: TokenUsage, text: str | None) -> TokenUsage:
    """Return the tokens that a server reported, each replaced by its upper bound if it cannot be true.

    Missing, negative, fractional and absurd figures, no input tokens, and no output tokens for an answer with text
    cannot be true. A figure over the bound but not absurd will be billed: it is believed and marked.
    """
    figures = reported if isinstance(reported, dict) else {}
    prompt, guessed_prompt = _credible_count(figures.get("prompt_tokens"), least=1, most=most.prompt_tokens)
    completion, guessed_completion = _credible_count(
        figures.get("completion_tokens"), least=1 if text else 0, most=most.completion_tokens
    )
    return TokenUsage(prompt, completion, usage_estimated=guessed_prompt or guessed_completion)


def _credible_count(value: Any, *, least: int, most: int) -> tuple[int, bool]:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= CREDIBLE_FACTOR * most:
        return most, True
    return value, value > most


ZERO = Decimal(0)
OPEN_STATES = (AttemptState.INTENDED, AttemptState.UNKNOWN)


class BudgetError(GatewayError):
    """A study may not use an endpoint that costs money."""


class BudgetExceededError(BudgetError):
    """The next call could exceed the study's budget."""


class Totals(NamedTuple):
    """Sums over the attempts of a study."""

    held: Decimal
    settled: Decimal


def admit(*, study: Study, endpoint: Endpoint) -> None:
    """Check that a study may use an endpoint at all: free, or with a budget in the currency of its prices."""
    if endpoint.is_free:
        return
    if study.llm_budget is None:
        raise BudgetError(
            f"“{endpoint}” costs money, but the study “{study}” has no model budget. "
            f"Set a budget in {endpoint.currency}."
        )
    if study.currency != endpoint.currency:
        raise BudgetError(
            f"The prices of “{endpoint}” are in {endpoint.currency}, but the study's budget is in {study.currency}. "
            "Enter the endpoint's prices in the study's currency."
        )
    StudySpend.objects.get_or_create(study=study)


def hold(*, study: Study | None, amount: Decimal) -> bool:
    """Hold money for a call about to be sent; False if the budget does not allow it.

    One UPDATE whose condition reads only the row it changes (and the budget): under READ COMMITTED, PostgreSQL checks
    it again on the newest version of the row after waiting for another update, so that no two can both take the rest.
    """
    if study is None or not amount:
        return True
    budget = Subquery(Study.objects.filter(pk=study.pk).values("llm_budget")[:1])
    rows = StudySpend.objects.filter(study_id=study.pk).alias(budget=budget)
    return bool(rows.filter(budget__gte=F("settled") + F("held") + amount).update(held=F("held") + amount))


def budget_exceeded(*, study: Study, currency: str, amount: Decimal) -> BudgetExceededError:
    """Return the error that says what is left and what the next call may cost."""
    study.refresh_from_db(fields=["llm_budget"])
    budget = money.format_amount(study.llm_budget or 0, currency)
    left = money.format_cost(remaining(study=study) or ZERO, currency)
    return BudgetExceededError(
        f"The next call may exceed the model budget of “{study}” ({budget}). It may cost "
        f"{money.format_cost(amount, currency)}, but only {left} is left. Existing answers are kept. Raise the budget "
        "and resume."
    )


def settle(*, study: Study | None, bound: Decimal, cost: Decimal) -> None:
    """Move an attempt's money from held to settled, in the transaction that settles the attempt."""
    if study is not None and (bound or cost):
        StudySpend.objects.filter(study_id=study.pk).update(held=F("held") - bound, settled=F("settled") + cost)


@transaction.atomic
def settle_unknown(*, attempts: Iterable[Attempt], cost: Decimal = ZERO) -> int:
    """Settle attempts with an unknown outcome at the amount on the provider's bill (nothing, by default)."""
    ids = [attempt.pk for attempt in attempts]
    unknown = list(Attempt.objects.select_for_update().unsettled().filter(pk__in=ids).order_by("id"))
    for attempt in unknown:
        settle(study=attempt.study, bound=attempt.bound, cost=cost)
        attempt.state, attempt.cost = AttemptState.FAILED, cost
        attempt.save(update_fields=["state", "cost"])
    return len(unknown)


def give_up(attempts: QuerySet[Attempt], now: datetime) -> int:
    """Mark attempts whose sender was lost as unknown; they stay charged at their upper bound."""
    return attempts.update(
        state=AttemptState.UNKNOWN, fault=Fault.LOST, ended_at=now, error="The calling process was lost."
    )


def give_up_lost(*, now: datetime) -> int:
    """Mark all attempts whose sender was lost as unknown, and return their number."""
    return give_up(Attempt.objects.lost(now), now)


def audit(*, study: Study) -> tuple[Totals, Totals]:
    """Return the sums of the study's attempts and its counter; the two must always be equal."""
    is_open = Q(state__in=OPEN_STATES)
    sums = Attempt.objects.filter(study=study).aggregate(
        held=Sum("cost", filter=is_open, default=ZERO), settled=Sum("cost", filter=~is_open, default=ZERO)
    )
    counter = StudySpend.objects.filter(study=study).first() or StudySpend(study=study)
    return Totals(sums["held"], sums["settled"]), Totals(Decimal(counter.held), Decimal(counter.settled))


def remaining(*, study: Study) -> Decimal | None:
    """Return the rest of a study's budget, or None if it has none."""
    if study.llm_budget is None:
        return None
    spend = StudySpend.objects.filter(study=study).first()
    return Decimal(study.llm_budget) - (spend.total if spend else ZERO)


def spending_line(study: Study) -> SpendingLine | None:
    """Return the maximum cost of calls to models for the study's overview; None without cost and budget."""
    total = sum((spend.total for spend in StudySpend.objects.filter(study=study)), ZERO)
    return SpendingLine("Models", "study_models", total, budget=study.llm_budget) if total or study.llm_budget else None

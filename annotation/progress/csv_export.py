"""The tables of a campaign's page as CSV. Participants are pseudonymous; money is in major units."""

from collections.abc import Callable, Sequence
from datetime import datetime
from math import isnan
from typing import Any, Final

from crowdrag.studies import money
from crowdrag.ui import csv_export

from ..enums import AssignmentState
from ..models import AssignmentChoice, Campaign
from ..policies.choice_weights import assignment_weights
from . import wages
from .overview import Overview, overview


class UnknownTable(LookupError):  # noqa: N818 -- it says what the table is
    """No table has this name."""


Table = tuple[Sequence[str], list[Sequence[Any]]]
_STATES: Final = [state.value for state in AssignmentState]


def _questionnaires(figures: Overview, _currency: str) -> Table:
    columns = ("questionnaire", "asked", "free", *(state.lower() for state in _STATES))
    rows: list[Sequence[Any]] = [
        (each.name, each.planned, each.free, *(each.counts[state] for state in _STATES))
        for each in figures.rows.questionnaires
    ]
    return columns, rows


def _assignments(figures: Overview, currency: str) -> Table:
    columns = (
        "assignment", "judge", "state", "assigned_at", "submitted_at", "seconds", "active_seconds", "pay", "paid",
        "wage_per_active_hour", "currency",
    )  # fmt: skip
    rows: list[Sequence[Any]] = [
        (
            row.external_id,
            row.participant,
            row.state,
            row.assigned_at.isoformat() if row.assigned_at else None,
            row.submitted_at.isoformat() if row.submitted_at else None,
            row.seconds,
            row.active_seconds,
            _major(row.pay, currency),
            _major(row.paid, currency),
            _major(wages.wage(row, row.active_seconds) if row.state in wages.STANDS else None, currency),
            currency,
        )
        for row in figures.rows.assignments
    ]
    return columns, rows


def _outcomes(figures: Overview, _currency: str) -> Table:
    rows = [
        (each.name, each.count, each.share.n, each.share.estimate, each.share.low, each.share.high)
        for each in figures.rates
    ]
    return ("outcome", "count", "of", "share", "low", "high"), [_defined(row) for row in rows]


def _agreement(campaign_figures: Overview, _currency: str) -> Table:
    columns = ("dimension", "alpha", "low", "high", "items", "judgments", "computed_at", "problem")
    rows: list[Sequence[Any]] = []
    for each in campaign_figures.agreement:
        live = each.latest
        figures = (live.alpha, live.low, live.high, live.items, live.judgments) if live else (None,) * 5
        rows.append((each.dimension.name, *figures, live.computed_at.isoformat() if live else None, each.problem))
    return columns, rows


def _competence(figures: Overview, _currency: str) -> Table:
    names = {each.dimension.pk: each.dimension.name for each in figures.agreement}
    people = {row.participant_id: row.participant for row in figures.rows.assignments}
    columns = ("judge", "dimension", "spam_probability", "low", "high", "judgments", "computed_at")
    rows: list[Sequence[Any]] = [
        (
            people[each.participant_id],
            names[each.dimension_id],
            each.spam_probability,
            each.low,
            each.high,
            each.judgments,
            each.computed_at.isoformat(),
        )
        for each in figures.rows.competence
        if each.participant_id in people and each.dimension_id in names
    ]
    return columns, rows


def _judges(figures: Overview, currency: str) -> Table:
    columns = (
        "judge", "handed_in", "accepted", "rejected", "median_active_seconds", "median_wage_per_active_hour", "earned",
        "currency",
    )  # fmt: skip
    rows: list[Sequence[Any]] = [
        (
            each.pseudonym,
            each.handed_in,
            each.accepted,
            each.rejected,
            each.active,
            _major(each.wage, currency),
            _major(each.earned, currency),
            currency,
        )
        for each in figures.rows.judges
    ]
    return columns, rows


def _funnel(figures: Overview, _currency: str) -> Table:
    return ("stage", "people", "of_arrived"), [(each.name, each.people, each.of_arrived) for each in figures.stages]


def _choices(figures: Overview, _currency: str) -> Table:
    columns = ("assignment", "policy", "epoch", "arm", "tier", "probability", "free_slots", "weight")
    weights = assignment_weights(figures.campaign)
    choices = AssignmentChoice.objects.filter(assignment__questionnaire__campaign=figures.campaign)
    rows: list[Sequence[Any]] = [
        (name, *values, weights.get(pk))
        for pk, name, *values in choices.order_by("assignment_id").values_list(
            "assignment_id", "assignment__external_id", *columns[1:-1]
        )
    ]
    return columns, rows


TABLES: Final[dict[str, Callable[[Overview, str], Table]]] = {
    "questionnaires": _questionnaires,
    "assignments": _assignments,
    "outcomes": _outcomes,
    "agreement": _agreement,
    "competence": _competence,
    "judges": _judges,
    "funnel": _funnel,
    "choices": _choices,
}


def as_table(campaign: Campaign, name: str, now: datetime) -> bytes:
    """Return one of `TABLES` as CSV.

    Raises
    ------
    UnknownTable
        if no table has this name.
    """
    if name not in TABLES:
        raise UnknownTable(name)
    columns, rows = TABLES[name](overview(campaign, now), campaign.study.currency)
    return csv_export.to_csv(columns, rows)


def _major(amount: float | None, currency: str) -> Any:
    return None if amount is None else money.to_major(round(amount), currency)


def _defined(row: Sequence[Any]) -> Sequence[Any]:
    """Replace undefined values by empty cells."""
    return [None if isinstance(value, float) and isnan(value) else value for value in row]

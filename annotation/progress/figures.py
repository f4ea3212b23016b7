"""What a campaign's pages show of all its questionnaires: computed from them, or kept if they are very many.

Kept figures are a minute or two old: the sweep computes them again when something has changed.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
from django.db import InterfaceError, OperationalError
from django.db.models import Count, Max

from analysis.stats.bootstrap import Interval
from analysis.stats.proportions import Proportion
from crowdrag.studies.models import Arrival, Consent, Participant
from writing.progress.funnel import Stage

from ..enums import AssignmentState, CampaignState
from ..models import (
    Assignment,
    AssignmentPayment,
    AssignmentTransition,
    Campaign,
    JudgmentSums,
    ProgressFigures,
    Slot,
    TrainingAnswer,
)
from . import judges as progress_judges
from . import queries, time_left, wages
from .campaign_rows import CampaignRows
from .check_summary import CheckSummary, check_summary
from .costs import Spending, spending
from .queries import StateCounts
from .time_left import Pace
from .wages import PaidQuestionnaire, WorkTimes

#: Figures of this many questionnaires take a tenth of a second, so they are kept.
MANY: Final = 2_000
#: The number of questionnaires paid least that are listed.
LOWEST: Final = 20
#: How often the sweep may compute the figures of a campaign that nobody can work on again.
ENDED_EVERY: Final = timedelta(hours=1)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Figures:
    """Figures of all questionnaires of a campaign; `below` are at most `LOWEST`."""

    whole: StateCounts
    work: WorkTimes
    below: list[PaidQuestionnaire]
    stages: list[Stage]
    spending: Spending
    pace: Pace | None


def figures(campaign: Campaign, rows: CampaignRows, now: datetime) -> tuple[Figures, datetime | None]:
    """Return the figures of a campaign, and when they were computed if they are kept."""
    kept = _kept(campaign, rows, now, "figures", "computed_at")
    return (compute(campaign, rows, now), None) if kept is None else (_read(kept.figures), kept.computed_at)


def judge_order(campaign: Campaign, rows: CampaignRows, now: datetime) -> Sequence[int]:
    """Return the keys of everybody who was assigned a questionnaire, lowest competence first."""
    kept = _kept(campaign, rows, now, "judges")
    return [each.pk for each in rows.judges] if kept is None else np.frombuffer(kept.judges, dtype="<i8").tolist()


def check_results(campaign: Campaign, rows: CampaignRows, now: datetime) -> CheckSummary:
    """Return the results of checks over all judges."""
    kept = _kept(campaign, rows, now, "checks")
    if kept is None:
        return check_summary(campaign)
    return CheckSummary(**{name: value and _proportion(value) for name, value in kept.checks.items()})


def hourly_pay(campaign: Campaign, rows: CampaignRows, now: datetime) -> list[float]:
    """Return the pay per hour of active time of each valid questionnaire for which it is known, in minor units."""
    kept = _kept(campaign, rows, now, "hourly_pay")
    if kept is None:
        return wages.hourly_pay(rows.assignments)
    pay: list[float] = np.frombuffer(kept.hourly_pay, dtype="<f8").tolist()
    return pay


def spending_of(campaign: Campaign, rows: CampaignRows, now: datetime) -> Spending:
    """Return the costs of a campaign; of a small one without those of its free slots."""
    kept = _kept(campaign, rows, now, "figures")
    return spending(rows.assignments, campaign, StateCounts()) if kept is None else _read(kept.figures).spending


def compute(campaign: Campaign, rows: CampaignRows, now: datetime) -> Figures:
    """Compute the figures from all rows."""
    whole = queries.total(rows.questionnaires)
    return Figures(
        whole=whole,
        work=wages.work_times(rows.assignments, campaign.wage_floor),
        below=wages.below_floor(rows.assignments, campaign.wage_floor)[:LOWEST],
        stages=progress_judges.funnel(campaign),
        spending=spending(rows.assignments, campaign, whole),
        pace=time_left.measure_pace(rows.assignments, whole, now),
    )


def refresh_due(*, now: datetime) -> int:
    """Compute the kept figures of campaigns that may have changed again; return the number of campaigns."""
    large = JudgmentSums.objects.order_by().values("campaign").annotate(n=Count("pk")).filter(n__gte=MANY)
    kept = dict(ProgressFigures.objects.values_list("campaign", "mark"))
    keys = {row["campaign"] for row in large} | set(kept)
    done = 0
    for campaign in Campaign.objects.filter(pk__in=keys, has_slots=True).order_by("pk"):
        if _mark(campaign, now) == kept.get(campaign.pk):
            continue
        try:
            keep(campaign, CampaignRows(campaign), now)
        except (InterfaceError, OperationalError):
            raise  # the sweep waits for the database
        except Exception:
            # A campaign that fails must not stop the others.
            log.exception("The figures of campaign %s could not be computed", campaign.pk)
        else:
            done += 1
    return done


def forget(campaign: Campaign) -> None:
    """Drop the kept figures, so that the next page computes them: somebody has just changed what they show."""
    ProgressFigures.objects.filter(campaign=campaign).delete()


def keep(campaign: Campaign, rows: CampaignRows, now: datetime) -> ProgressFigures:
    """Compute the figures of a campaign and store them."""
    # The mark is read first: what changes meanwhile is computed again in the next pass.
    mark = _mark(campaign, now)
    values = {
        "figures": _written(compute(campaign, rows, now)),
        "checks": _plain(check_summary(campaign)),
        "judges": np.array([each.pk for each in rows.judges], dtype="<i8").tobytes(),
        "hourly_pay": np.sort(np.array(wages.hourly_pay(rows.assignments), dtype="<f8")).tobytes(),
        "mark": mark,
        "computed_at": now,
    }
    return ProgressFigures.objects.update_or_create(campaign=campaign, defaults=values)[0]


def _kept(campaign: Campaign, rows: CampaignRows, now: datetime, *columns: str) -> ProgressFigures | None:
    """Return these columns of a campaign's kept figures, computed now if there are none; None if it is small."""
    kept = ProgressFigures.objects.filter(campaign=campaign).only(*columns).first()
    if kept is not None:
        return kept
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign).order_by()
    return keep(campaign, rows, now) if assignments[MANY - 1 : MANY].exists() else None


def _mark(campaign: Campaign, now: datetime) -> dict[str, Any]:
    """Return what changes when the figures of a campaign may have changed. The pace also changes with time."""
    if campaign.state == CampaignState.CLOSED:
        ended = (now - datetime.min.replace(tzinfo=now.tzinfo)) // ENDED_EVERY
        return {"hour": ended, "terms": _terms(campaign)}
    newest = {
        model.__name__: model._default_manager.aggregate(newest=Max("pk"))["newest"]
        for model in (AssignmentTransition, AssignmentPayment, Arrival, Consent, TrainingAnswer, Slot)
    }
    erased = Participant.objects.aggregate(newest=Max("erased_at"))["newest"]
    return {**newest, "erased": str(erased), "hour": f"{now:%Y-%m-%d %H}", "terms": _terms(campaign)}


def _terms(campaign: Campaign) -> list[Any]:
    return [campaign.state, campaign.k, campaign.pay, campaign.fee, campaign.tax, campaign.wage_floor]


def _written(figures: Figures) -> dict[str, Any]:
    pace = figures.pace
    paced = pace and [pace.submitted, pace.window.total_seconds(), pace.left and pace.left.total_seconds()]
    rest = {each.name: getattr(figures, each.name) for each in fields(figures) if each.name != "pace"}
    return {name: _plain(value) for name, value in rest.items()} | {"pace": paced}


def _read(kept: dict[str, Any]) -> Figures:
    # The database does not keep the order of an object's names.
    whole, work = kept["whole"], kept["work"]
    intervals = ("whole", "active", "wage", "wage_of_whole")
    pace = kept["pace"]
    return Figures(
        whole=StateCounts(**whole | {"counts": {state: whole["counts"][state] for state in AssignmentState.values}}),
        work=WorkTimes(
            **{name: work[name] and Interval(**_with_nan(work[name])) for name in intervals},
            below=work["below"] and _proportion(work["below"]),
            too_short=work["too_short"],
        ),
        below=[PaidQuestionnaire(**each) for each in kept["below"]],
        stages=[Stage(**each) for each in kept["stages"]],
        spending=Spending(**kept["spending"]),
        pace=pace and Pace(pace[0], timedelta(seconds=pace[1]), pace[2] and timedelta(seconds=pace[2])),
    )


def _proportion(value: dict[str, Any]) -> Proportion:
    return Proportion(**_with_nan(value))


def _plain(value: Any) -> Any:
    """Return a value for JSON, which has no NaN."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, float) and math.isnan(value):
        return None
    return _plain(asdict(value)) if hasattr(value, "__dataclass_fields__") else value


def _with_nan(value: dict[str, Any]) -> dict[str, Any]:
    return {name: math.nan if each is None else each for name, each in value.items()}

"""Runs that make a plan: one unit for each design and round, so that early results cover all designs."""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.urls import reverse

from analysis.stats.calibration import NoEstimateError
from analysis.stats.designs import BadDesignError
from analysis.stats.planning import MEASURES, analyse
from analysis.stats.random_streams import named_rng
from analysis.stats.simulation import simulate
from annotation.campaigns import questionnaires
from annotation.campaigns import services as campaign_services
from annotation.campaigns.design import read_design
from annotation.campaigns.problems import NotDraft
from annotation.enums import CampaignKind, CampaignState
from annotation.models import Campaign
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study, User

from ..figures import figure
from ..tables import table
from ..tables.models import ResultTable
from ..tables.rows import Row, number
from ..tables.run_tables import PLAN
from . import compute, expectations, sequential_campaigns
from .figures import FIGURES
from .parameters import BadPlanError, PlanParameters
from .tables import TABLES

KIND = PLAN
PART = "plan_part_"
GOAL_PART = "plan_campaigns_"


def start(*, study: Study, parameters: PlanParameters, by: User | None = None, seed: int = 0) -> Run:
    """Start a plan.

    Raises
    ------
    BadPlanError
        If the seed is negative.
    """
    if seed < 0:
        raise BadPlanError(f"The seed must be 0 or more, not {seed}.")
    return lifecycle.start(study=study, kind=KIND, parameters=parameters.write(), by=by, seed=seed)


@dataclass(frozen=True)
class FilledCampaign:
    """A campaign filled in from a plan; it has fewer topics than planned if the study has no more."""

    campaign: Campaign
    topics: int


def fill_in(*, run: Run, campaign: Campaign, k: int, topics: int, now: datetime) -> FilledCampaign:
    """Copy the numbers of one of a plan's designs to the setup of a draft. Idempotent.

    The pay is kept if the plan has none.

    Raises
    ------
    BadPlanError
        If the design is not in the plan, or the campaign is in another study or does not compare pairs.
    CampaignProblem
        If it is not a draft, or a number is invalid.
    """
    parameters = PlanParameters.read(run.parameters)
    if (k, topics) not in parameters.points():
        raise BadPlanError(f"This plan has no design with {topics} topics and {k} judges per pair.")
    if campaign.study_id != run.study_id or campaign.kind != CampaignKind.PAIRWISE:
        raise BadPlanError("Choose a draft of this study in which people compare pairs.")
    if campaign.state != CampaignState.DRAFT:
        raise NotDraft(campaign)
    design = replace(read_design(campaign.design), topic_sample=None)
    available = questionnaires.pool(campaign, design).topics
    design = replace(
        design,
        topic_sample=topics if topics < available else None,
        pairs_per_topic=parameters.pairs,
        reverse_share=parameters.both_orders,
        items_per_questionnaire=parameters.items,
    )
    names = ("minutes", "questionnaires_per_person", *(("pay", "fee", "tax") if parameters.pay else ()))
    terms = {"k": k} | {name: getattr(parameters, name) for name in names}
    campaign = campaign_services.change_terms(campaign=campaign, terms=terms, design=design, now=now)
    return FilledCampaign(campaign, min(topics, available))


def units(run: Run) -> Iterable[dict[str, Any]]:
    """Yield a unit for each round and design, all designs of a round before the next round."""
    parameters = PlanParameters.read(run.parameters)
    for number_, simulations in enumerate(parameters.rounds):
        for k, topics in parameters.points():
            yield {"round": number_, "k": k, "topics": topics, "simulations": simulations}
    for k, topics in parameters.points():
        yield {"is_sequential": True, "k": k, "topics": topics}


def work(work: kinds.Work) -> Callable[[], None]:
    """Simulate and analyse studies of one design; the effect stores the results."""
    parameters, payload = PlanParameters.read(work.run.parameters), work.unit.payload
    k, topics, count = payload["k"], payload["topics"], payload.get("simulations", 1)
    work.report(0, count, "Reading the assumptions")
    try:
        expected = expectations.expectation(parameters, study_id=work.run.study_id, seed=work.run.seed)
    except (BadPlanError, BadDesignError, NoEstimateError) as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    rows: list[Row] = []
    numbers = expectations.expectation_in_numbers(parameters, expected)
    if payload.get("is_sequential"):
        rows.append(
            sequential_campaigns.row(parameters, k, topics, expected, named_rng(work.run.seed, f"goal {k} {topics}"))
        )
        return partial(_keep, work.run, work.unit.position, rows, numbers, prefix=GOAL_PART)
    rng = named_rng(work.run.seed, f"plan {k} {topics} {payload['round']}")
    for done in range(count):
        work.report(done, count, f"{topics} topics, {k} judges")
        values = analyse(simulate(parameters.design(k, topics), expected, rng), rng)
        rows.append({"k": k, "topics": topics} | {name: number(values[name]) for name in MEASURES})
    return partial(_keep, work.run, work.unit.position, rows, numbers)


def _keep(run: Run, position: int, rows: list[Row], expected: dict[str, Any], prefix: str = PART) -> None:
    ResultTable.objects.create(run=run, name=f"{prefix}{position}", rows=rows)
    lifecycle.note(run=run, summary={"expected": expected})


def finish(run: Run) -> None:
    """Combine the parts into the final tables."""
    tables = _computed(run)
    ResultTable.objects.bulk_create(ResultTable(run=run, name=name, rows=rows) for name, rows in tables.items())
    for prefix in (PART, GOAL_PART):
        ResultTable.objects.filter(run=run, name__startswith=prefix).delete()


def tables(run: Run) -> compute.Tables:
    """Return the tables of a run: the final ones, or those from the simulations so far."""
    stored = dict(
        ResultTable.objects.filter(run=run, name__in=[each.name for each in TABLES]).values_list("name", "rows")
    )
    return {"plan_goal": []} | stored if stored else _computed(run)


def _computed(run: Run) -> compute.Tables:
    tables = compute.tables(PlanParameters.read(run.parameters), _parts(run, PART))
    return tables | {"plan_goal": sorted(_parts(run, GOAL_PART), key=lambda row: (row["k"], row["topics"]))}


def progress_mark(run: Run) -> int:
    """Return the number of units with results; a chart of fewer is out of date."""
    return ResultTable.objects.filter(run=run).count()


def _parts(run: Run, prefix: str) -> list[Row]:
    """Return the simulation results in the order of units, regardless of the order of completion."""
    kept = ResultTable.objects.filter(run=run, name__startswith=prefix).values_list("name", "rows")
    in_order = sorted(kept, key=lambda part: int(part[0].removeprefix(prefix)))
    return [row for _name, part in in_order for row in part]


def find(study: Study, *, key: uuid.UUID | None = None) -> Run | None:
    """Return the requested plan, or the latest that was not cancelled; None if there is none.

    Raises
    ------
    Run.DoesNotExist
        If the requested plan is not in this study.
    """
    plans = Run.objects.filter(study=study, kind=KIND)
    return plans.get(key=key) if key else plans.newest_first().first()


def result_url(run: Run) -> str:
    """Return the URL of a plan."""
    return reverse("planner", args=[run.study.slug]) + f"?run={run.key}"


def register(describe: Callable[[Run], dict[str, Any]]) -> None:
    """Register the run kind when the app is ready."""
    table.register(TABLES)
    figure.register(FIGURES)
    kinds.register(
        kinds.Kind(
            name=KIND, title="Plan", plan=units, work=work, finish=finish, result_url=result_url, describe=describe
        )
    )

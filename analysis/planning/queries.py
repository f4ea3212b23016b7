"""Default parameters of a plan from the study's own design, and the content of a plan's page."""

from collections import Counter
from typing import Any

from django.db.models import QuerySet

from analysis.stats.judgments import canonical
from annotation.campaigns import design as campaigns_design
from annotation.enums import CampaignKind, CampaignState, Judges
from annotation.models import Campaign, Item, QuestionnaireItem
from crowdrag.jobs import progress
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies import money
from crowdrag.studies.models import Study
from writing.models import Response

from ..figures.figure import FIGURES
from ..tables.rows import Row
from ..tables.run_tables import ANALYSIS
from . import services
from .parameters import PlanParameters
from .tables import MEASURES, STEPS

#: Defaults for a study without data: the published study (crowdrag25, 3.2).
USUAL: dict[str, Any] = {"topics": 65, "responses": 6, "styles": 3, "dimensions": 7, "forced": 1, "k": 5}
#: Alternative numbers of judges (differences) and topics (factors).
JUDGES_BESIDE = (-2, 2)
TOPICS_BESIDE = (0.5, 1.5, 2.0)


def default_parameters(study: Study, campaign: Campaign | None = None) -> dict[str, Any]:
    """Return the form's defaults by the names of `PlanParameters`, from a campaign or the study's latest one."""
    defaults = USUAL | _written(study) | _judged(study, campaign)
    defaults["currency"] = study.currency
    defaults["source"] = latest(study)
    return defaults | alternatives(defaults["topics"], defaults["k"])


def alternatives(topics: int, k: int) -> dict[str, tuple[int, ...]]:
    """Return alternative designs: fewer and more topics, fewer and more judges."""
    return {
        "more_topics": tuple(sorted({max(2, round(topics * factor)) for factor in TOPICS_BESIDE} - {topics})),
        "more_k": tuple(sorted({max(2, k + step) for step in JUDGES_BESIDE} - {k})),
    }


def latest(study: Study) -> str | None:
    """Return the key of the latest finished analysis of judgments, the source of assumptions."""
    runs = Run.objects.filter(study=study, kind=ANALYSIS, state=RunState.DONE, snapshot__judgments__gt=0)
    run = runs.newest_first().first()
    return str(run.key) if run else None


def _written(study: Study) -> dict[str, Any]:
    """Return the number of topics with responses to compare, and their usual numbers of responses and styles."""
    rows = Response.objects.filter(study=study, is_included=True, erased_at__isnull=True)
    held = rows.order_by().values_list("topic_id", "style__name")
    per_topic = Counter(topic for topic, _style in held)
    several = [n for n in per_topic.values() if n > 1]
    if not several:
        return {}
    usual = max(Counter(several).items(), key=lambda pair: (pair[1], pair[0]))[0]
    styles = len({style for _topic, style in held})
    return {"topics": max(2, len(several)), "responses": usual, "styles": max(1, styles)}


def drafts(study: Study) -> QuerySet[Campaign]:
    """Return the campaigns that a plan can fill in: drafts in which people compare pairs."""
    return Campaign.objects.filter(
        study=study, kind=CampaignKind.PAIRWISE, judges=Judges.CROWD, state=CampaignState.DRAFT
    ).newest_first()


def _judged(study: Study, campaign: Campaign | None) -> dict[str, Any]:
    """Return the requirements and pay of a campaign of pairs, by default the latest."""
    of_pairs = Campaign.objects.filter(study=study, kind=CampaignKind.PAIRWISE, judges=Judges.CROWD)
    campaign = campaign or of_pairs.order_by("-pk").first()
    if campaign is None:
        return {}
    design = campaigns_design.read_design(campaign.design)
    dimensions = list(campaign.dimensions.all())
    values: dict[str, Any] = {
        "k": max(2, campaign.k),
        "both_orders": design.reverse_share,
        "items": design.items_per_questionnaire,
        "minutes": campaign.minutes,
        "questionnaires_per_person": campaign.questionnaires_per_person or 1,
    }
    values |= {name: getattr(campaign, name) or 0 for name in ("pay", "fee", "tax")}
    if dimensions:
        values["dimensions"] = len(dimensions)
        values["forced"] = sum(0 not in dimension.values for dimension in dimensions)
    if design.pairs_per_topic is not None:
        values["pairs"] = design.pairs_per_topic
    if design.topic_sample is not None or design.topics:
        values["topics"] = max(2, design.topic_sample or len(design.topics))
    return values | _drawn(campaign)


def _drawn(campaign: Campaign) -> dict[str, Any]:
    """Return the design of the drawn questionnaires; empty if there are none yet."""
    shown = list(
        Item.objects.filter(campaign=campaign, pair__isnull=False).order_by().values_list("topic", "pair__a", "pair__b")
    )
    sheets = campaign.questionnaires.count()
    if not shown or not sheets:
        return {}
    sides = canonical([a for _topic, a, _b in shown], [b for _topic, _a, b in shown])
    once = len(set(zip(sides.low.tolist(), sides.high.tolist(), strict=True)))
    entries = QuestionnaireItem.objects.filter(questionnaire__campaign=campaign, has_known_label=False).count()
    return {
        "topics": max(2, len({topic for topic, _a, _b in shown})),
        "both_orders": (len(shown) - once) / once,
        "items": max(1, round(entries / sheets)),
    }


#: Measures in the table, in this order, with their decimals.
SHOWN = {
    "difference_width": 2,
    "power_all": 2,
    "power": 2,
    "mean_grade_width": 2,
    "mean_grade_all_width": 2,
    "rank_width": 1,
    "label_accuracy": 2,
    "alpha": 2,
    "alpha_width": 3,
}
#: Measures for which the gain from additional money is shown.
BOUGHT = ("difference_width", "power_all", "power", "alpha_width", "label_accuracy", "rank_width")

#: Assumptions that users can enter instead of taking them from an analysis.
TYPED = {
    "competence": "mean competence",
    "competence_spread": "standard deviation of competence",
    "preferred": "pairs in which the model's response is better",
    "neutral": "pairs in which neither response is better",
}


def planner(run: Run | None) -> dict[str, Any]:
    """Return the context of a plan's page; empty without a run."""
    if run is None:
        return {}
    tables = services.tables(run)
    parameters = PlanParameters.read(run.parameters)
    cells = {(row["k"], row["topics"], row["measure"]): row for row in tables["plan"]}
    designs = [
        cost
        | {"cells": [_cell(cells.get((cost["k"], cost["topics"], name)), digits) for name, digits in SHOWN.items()]}
        for cost in tables["plan_costs"]
    ]
    present = next(cost for cost in tables["plan_costs"] if cost["present"])
    expected = run.summary.get("expected")
    return {
        "asked": parameters,
        "designs": designs,
        "columns": [MEASURES[name] for name in SHOWN],
        "present": present | {"major": money.to_major(present["total"], present["currency"])},
        "next": _next(tables["plan_next"]),
        "campaigns": tables["plan_goal"],
        "expected": expected,
        "is_paid": any(cost["total"] for cost in tables["plan_costs"]),
        "said": _typed_expectations(parameters),
        "figure": FIGURES["plan"],
        "mark": services.progress_mark(run),
        "has_points": bool(tables["plan"]),
        "progress": progress.measure(run),
    }


def _typed_expectations(parameters: PlanParameters) -> list[Any]:
    """Return the assumptions entered in addition to a source analysis; all of them without a source."""
    return [label for name, label in TYPED.items() if getattr(parameters, name) is not None]


def _cell(row: Row | None, digits: int) -> dict[str, Any]:
    return {"row": row, "digits": digits}


def _next(rows: list[Row]) -> list[dict[str, Any]]:
    """Return the gain from additional money, one block for each way of spending it."""
    blocks = []
    for step, label in STEPS.items():
        changes_by_measure = {row["measure"]: row for row in rows if row["step"] == step}
        if not changes_by_measure:
            continue
        first = next(iter(changes_by_measure.values()))
        target = {"topics": "%(n)s topics", "k": "%(n)s judges per pair"}[step] % {"n": first[step]}
        changes = [
            changes_by_measure[name] | {"label": MEASURES[name], "is_told": _is_significant(changes_by_measure[name])}
            for name in BOUGHT
            if name in changes_by_measure
        ]
        amount = round(first["money"] * 10 ** money.minor_digits(first["currency"]))
        blocks.append({"label": label, "amount": amount, "target": target, "first": first, "changes": changes})
    return blocks


def _is_significant(row: Row) -> bool:
    """Return whether the change differs significantly from zero."""
    return row["low"] is not None and (row["low"] > 0 or row["high"] < 0)

"""The page of a plan: what designs find out and cost, and what the next money buys."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crowdrag.jobs import progress
from crowdrag.jobs.models import Run
from crowdrag.studies import money

from ..captions import figure
from ..captions.planned import MEASURES, STEPS
from ..planning import working
from ..planning.asked import Asked
from ..results.schema import Row

#: What the table shows, in this order, with decimals; shares as shares.
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
#: What the next money is asked about.
BOUGHT = ("difference_width", "power_all", "power", "alpha_width", "label_accuracy", "rank_width")

#: Expectations that a person may type instead of having them taken from an analysis.
TYPED = {
    "competence": gettext_lazy("mean competence"),
    "competence_spread": gettext_lazy("its standard deviation"),
    "preferred": gettext_lazy("how often the model's response is better"),
    "neutral": gettext_lazy("pairs of which neither is better"),
}


def planner(run: Run | None) -> dict[str, Any]:
    """Return what the page shows of a run; nothing where there is none."""
    if run is None:
        return {}
    found = working.tables(run)
    asked = Asked.read(run.parameters)
    cells = {(row["k"], row["topics"], row["measure"]): row for row in found["plan"]}
    designs = [
        cost
        | {"cells": [_cell(cells.get((cost["k"], cost["topics"], name)), digits) for name, digits in SHOWN.items()]}
        for cost in found["plan_costs"]
    ]
    present = next(cost for cost in found["plan_costs"] if cost["present"])
    expected = run.summary.get("expected")
    return {
        "asked": asked,
        "designs": designs,
        "columns": [MEASURES[name] for name in SHOWN],
        "present": present | {"major": money.to_major(present["total"], present["currency"])},
        "next": _next(found["plan_next"]),
        "expected": expected,
        "is_paid": any(cost["total"] for cost in found["plan_costs"]),
        "said": _said(asked),
        "figure": figure("plan"),
        "mark": working.progress_mark(run),
        "has_points": bool(found["plan"]),
        "progress": progress.measure(run),
    }


def _said(asked: Asked) -> list[Any]:
    """Which expectations were typed although an analysis was named for the others; all of them where none was."""
    return [label for name, label in TYPED.items() if getattr(asked, name) is not None]


def _cell(row: Row | None, digits: int) -> dict[str, Any]:
    return {"row": row, "digits": digits}


def _next(rows: list[Row]) -> list[dict[str, Any]]:
    """What the next money buys, a block for each way of spending it; what simulations cannot tell apart says so."""
    blocks = []
    for step, label in STEPS.items():
        own = {row["measure"]: row for row in rows if row["step"] == step}
        if not own:
            continue
        first = next(iter(own.values()))
        target = {"topics": _("%(n)s topics"), "k": _("%(n)s judges a pair")}[step] % {"n": first[step]}
        changes = [
            own[name] | {"label": MEASURES[name], "is_told": _is_told(own[name])} for name in BOUGHT if name in own
        ]
        blocks.append({"label": label, "target": target, "first": first, "changes": changes})
    return blocks


def _is_told(row: Row) -> bool:
    """Whether the change is told apart from none."""
    return row["low"] is not None and (row["low"] > 0 or row["high"] < 0)

"""What the pages of a placement show: the systems that can be placed, and where one stands on each dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet
from django.urls import reverse

from analysis.stats import placement
from analysis.stats.placement import Placement
from analysis.stats.random_streams import named_rng
from annotation.enums import Judges
from annotation.models import Campaign, Judgment
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study
from writing.enums import Origin
from writing.models import Response

from ..tables import value_labels
from . import anchors, services
from .anchors import ALL, DimensionBoard

#: Numbers of further judgments on one question for which the width of the interval is predicted.
FURTHER = (50, 100, 200, 400)


@dataclass(frozen=True)
class Candidate:
    """A system that can be placed: how many responses it has, and how often people judged them."""

    system: Participant
    responses: int
    is_ranked: bool


@dataclass(frozen=True, eq=False)
class DimensionPlacement:
    """Where the system stands on one dimension, by people and, without them, by model judges."""

    dimension: str
    label: str
    of: int
    result: Placement
    has_prior: bool


@dataclass(frozen=True)
class AnchorUse:
    """An anchor: its rank among the anchors, its merit, and the judged and won comparisons on all dimensions."""

    name: str
    rank: int
    merit: float
    votes: int
    won: int
    tied: int
    lost: int


def systems(study: Study) -> QuerySet[Participant]:
    """Return the participants that can be placed: systems and models with responses."""
    written = Response.objects.filter(study=study, is_included=True).exclude(origin=Origin.HUMAN)
    return Participant.objects.filter(study=study, pk__in=written.values("participant")).order_by("external_id")


def candidates(study: Study, run: Run | None) -> list[Candidate]:
    """Return the systems that can be placed, those without a rank first."""
    ranked = {row["participant"] for row in anchors.anchor_rows(run, "").get(ALL, ())}
    counted = systems(study).annotate(n=Count("responses"))
    rows = [Candidate(each, each.n, each.external_id in ranked) for each in counted]
    return sorted(rows, key=lambda each: (each.is_ranked, each.system.external_id))


def placements(study: Study, run: Run, system: Participant) -> list[tuple[DimensionBoard, DimensionPlacement]]:
    """Place a system on each dimension, all dimensions together first; empty if there are too few anchors."""
    labels = value_labels.dimensions(study) | {ALL: "All dimensions"}
    placed_boards = []
    for board in anchors.boards(study, run, system):
        placed = placement.place(
            board.votes,
            board.anchors,
            board.crowd,
            scale=board.scale,
            rng=named_rng(run.seed, f"placement {system.external_id} {board.dimension}"),
            prior=board.prior,
        )
        label = labels.get(board.dimension, board.dimension)
        row = DimensionPlacement(board.dimension, label, len(board.names) + 1, placed, board.prior is not None)
        placed_boards.append((board, row))
    return placed_boards


def page(study: Study, system: Participant) -> dict[str, Any]:
    """Return the context of a system's placement."""
    run = anchors.latest_run(study)
    placed = placements(study, run, system) if run else []
    by_models = Judgment.objects.of_study(study).counted().filter(item__campaign__judges=Judges.MODEL, repeat=0)
    of_system = by_models.filter(item__pair__a__participant=system) | by_models.filter(
        item__pair__b__participant=system
    )
    context: dict[str, Any] = {
        "system": system,
        "run": run,
        "rows": [row for _board, row in placed],
        "campaigns": [_campaign(study, each) for each in services.campaigns_of(study, system)],
        "model_judgments": of_system.count(),
        "fewest": anchors.FEWEST_ANCHORS,
        "responses": Response.objects.filter(study=study, participant=system, is_included=True).count(),
    }
    if not placed:
        return context
    board, overall = placed[0]
    judged = [(each, row) for each, row in placed if row.dimension != ALL]
    return context | {
        "overall": overall,
        "judgments": overall.result.votes,
        "judges": len(set(board.votes.judge.tolist())),
        "topics": len(set(board.votes.topic.tolist())),
        "anchors": _anchors(board),
        "further": _further([row for _each, row in judged if row.result.votes]),
        "further_counts": FURTHER,
    }


def _campaign(study: Study, campaign: Campaign) -> dict[str, Any]:
    page_name = "campaign_launch" if not campaign.has_slots else "campaign"
    return {
        "campaign": campaign,
        "url": reverse(page_name, args=[study.slug, campaign.pk]),
        "pairs": len(campaign.design.get("chosen_pairs", ())),
        "train_url": f"{reverse('model_judges_train', args=[study.slug])}?campaign={campaign.pk}",
        "models_url": f"{reverse('model_judges_new', args=[study.slug])}?campaign={campaign.pk}",
    }


def _anchors(board: DimensionBoard) -> list[AnchorUse]:
    votes = board.votes
    # From the new system's side: its response was better, neither, worse.
    outcome = np.where(votes.new_is_left, votes.label, 2 - votes.label)
    merit = board.anchors.merit
    counts = np.zeros((len(board.names), 3), dtype=np.int64)
    np.add.at(counts, (votes.anchor, outcome), 1)
    rows = [
        AnchorUse(name, int(1 + (merit > merit[number]).sum()), float(merit[number]), sum(three), *three)
        for number, (name, three) in enumerate(zip(board.names, counts.tolist(), strict=True))
    ]
    return sorted((row for row in rows if row.votes), key=lambda row: row.rank)


def _further(rows: list[DimensionPlacement]) -> list[dict[str, Any]]:
    return [
        {
            "label": row.label,
            "now": row.result.high - row.result.low,
            "widths": placement.widths(row.result, FURTHER).tolist(),
        }
        for row in rows
    ]

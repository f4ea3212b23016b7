"""Draw the campaign that places a new system: pairs of its responses and those of anchors to the same topics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction

from analysis.stats import placement
from analysis.stats.random_streams import named_rng
from annotation.campaigns import candidates, forecasts, questionnaires
from annotation.campaigns import services as campaign_services
from annotation.campaigns.design import Design, read_design
from annotation.campaigns.forecasts import Forecast
from annotation.enums import CampaignKind, Judges
from annotation.models import Campaign, Item, Judgment
from crowdrag.studies.models import Participant, Study
from writing.models import Response

from . import anchors
from .anchors import DimensionBoard

#: The key of a campaign's design under which its placement is noted.
NOTED = "placement"
#: Share of the pairs whose anchor is drawn with equal probabilities.
RANDOM_SHARE = 0.1
LONGEST_NAME = 100


class PlacementProblem(Exception):  # noqa: N818 -- it says what is missing
    """A placement cannot be started; the message says why, and what to do."""


@dataclass(frozen=True)
class PairDraw:
    """The pairs of a placement campaign, with the probability with which each anchor was chosen."""

    pairs: tuple[tuple[str, str], ...]
    anchors: tuple[str, ...]
    chances: tuple[float, ...]


@dataclass(frozen=True)
class PlacementOrder:
    """What a researcher asks for.

    Attributes
    ----------
    system : Participant
        The new system.
    pairs : int
        The number of pairs that people judge, each by one person.
    items : int
        The number of pairs in a questionnaire.
    minutes, pay, fee : int
        For each questionnaire; money in minor units.
    seed : int
    """

    system: Participant
    pairs: int = 100
    items: int = 10
    minutes: int = 20
    pay: int = 0
    fee: int = 0
    seed: int = 0


def source_campaign(study: Study) -> Campaign | None:
    """Return the latest campaign of people who compared pairs: a placement asks its questions."""
    judged = Judgment.objects.of_study(study).counted().pairwise().filter(item__campaign__judges=Judges.CROWD)
    campaigns = Campaign.objects.filter(study=study, kind=CampaignKind.PAIRWISE, judges=Judges.CROWD)
    return campaigns.filter(pk__in=judged.values("item__campaign")).newest_first().first()


def draw_pairs(study: Study, order: PlacementOrder) -> PairDraw:
    """Draw pairs of the new system's responses and anchors' responses to the same topics.

    Topics take turns. The anchor is drawn by the information that a vote is expected to give, with a random share.
    Pairs that are in another campaign of people already are left out.

    Raises
    ------
    PlacementProblem
        If there is no leaderboard, too few anchors, or no pair to judge.
    """
    board = _overall(study, order.system)
    if board is None:
        raise PlacementProblem(
            f"The leaderboard has fewer than {anchors.FEWEST_ANCHORS} ranked systems. "
            "Collect judgments of pairs and analyse them first."
        )
    rng = named_rng(order.seed, f"placement of {order.system.external_id}")
    belief = placement.place(
        board.votes, board.anchors, board.crowd, scale=board.scale, rng=rng, prior=board.prior
    ).draws  # fmt: skip
    chances = placement.anchor_chances(belief, board.anchors, board.crowd, board.scale, random_share=RANDOM_SHARE)
    free = _free_pairs(study, order.system, board.names)
    draw = _draw(free, board.names, chances, order.pairs, rng)
    if not draw.pairs:
        raise PlacementProblem(
            "There is no pair left to judge. The new system needs responses to topics that ranked systems answered too."
        )
    return draw


def forecast(study: Study, order: PlacementOrder, draw: PairDraw) -> Forecast:
    """Return the size and cost of the campaign."""
    source = source_campaign(study)
    dimensions = source.campaign_dimensions.count() if source else 0
    design = replace(read_design({}), items_per_questionnaire=order.items)
    topics = Response.objects.filter(study=study, external_id__in=[first for first, _second in draw.pairs])
    return forecasts.estimate(
        topics=topics.values("topic").distinct().count(), units=len(draw.pairs), both_orders=0, items=len(draw.pairs),
        sizes=questionnaires.sizes(design, len(draw.pairs), both_orders=0), k=1, dimensions=dimensions, apiece=1,
        minutes=order.minutes, pay=order.pay, fee=order.fee, tax=0,
    )  # fmt: skip


@transaction.atomic
def create_campaign(*, study: Study, order: PlacementOrder, now: datetime) -> Campaign:
    """Create the draft of a placement campaign, with the questions and texts of the study's latest campaign.

    Raises
    ------
    PlacementProblem
        If it cannot be drawn.
    annotation.campaigns.problems.BadCampaign
        If a term is out of range.
    """
    source = source_campaign(study)
    if source is None:
        raise PlacementProblem("No campaign of this study has judgments of pairs by people. Collect some first.")
    draw = draw_pairs(study, order)
    campaign = campaign_services.clone_campaign(campaign=source, name=_name(study, order.system), now=now)
    design = replace(
        read_design(campaign.design), topics=(), styles=(), origins=(), topic_sample=None, pairs_per_topic=None,
        reverse_share=0, items_per_questionnaire=order.items, seed=order.seed, chosen_pairs=draw.pairs,
    )  # fmt: skip
    terms = {"k": 1, "minutes": order.minutes, "pay": order.pay, "fee": order.fee or None,
             "questionnaires_per_person": 1}  # fmt: skip
    campaign = campaign_services.change_terms(campaign=campaign, terms=terms, design=design, now=now)
    campaign.design[NOTED] = {
        "system": order.system.external_id,
        "anchors": list(draw.anchors),
        "chances": [round(chance, 6) for chance in draw.chances],
        "random_share": RANDOM_SHARE,
    }
    campaign.save(update_fields=["design"])
    return campaign


def campaigns_of(study: Study, system: Participant) -> list[Campaign]:
    """Return the placement campaigns of a system, the newest first."""
    noted = Campaign.objects.filter(study=study, **{f"design__{NOTED}__system": system.external_id})
    return list(noted.newest_first())


def _overall(study: Study, system: Participant) -> DimensionBoard | None:
    run = anchors.latest_run(study)
    if run is None:
        return None
    return next(iter(anchors.boards(study, run, system)), None)


def _free_pairs(study: Study, system: Participant, names: tuple[str, ...]) -> dict[int, list[tuple[str, str, str]]]:
    """Return by topic the pairs that can be judged: the new response, the anchor and its response."""
    admitted = candidates.responses(Campaign(study=study), Design())
    topic_of = {text.key: text.topic for text in admitted}
    responses = Response.objects.filter(pk__in=topic_of).order_by("pk")
    new = responses.filter(participant=system).values_list("pk", "external_id")
    others = responses.filter(participant__external_id__in=names)
    by_topic: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for pk, name, anchor in others.values_list("pk", "external_id", "participant__external_id"):
        by_topic[topic_of[pk]].append((anchor, name))
    taken = _taken(study, system)
    free: dict[int, list[tuple[str, str, str]]] = defaultdict(list)
    for pk, name in new:
        for anchor, other in by_topic[topic_of[pk]]:
            if frozenset((name, other)) not in taken:
                free[topic_of[pk]].append((name, anchor, other))
    return free


def _taken(study: Study, system: Participant) -> set[frozenset[str]]:
    """Return the pairs of the system that a campaign of people shows already, or that a draft has chosen."""
    shown = Item.objects.filter(campaign__study=study, campaign__judges__in=anchors.PEOPLE, pair__isnull=False)
    names = ("pair__a__external_id", "pair__b__external_id")
    rows = shown.filter(pair__a__participant=system).union(shown.filter(pair__b__participant=system))
    taken = {frozenset(pair) for pair in rows.values_list(*names)}
    for campaign in campaigns_of(study, system):
        taken |= {frozenset(pair) for pair in read_design(campaign.design).chosen_pairs}
    return taken


def _draw(
    free: Mapping[int, list[tuple[str, str, str]]], names: tuple[str, ...], chances: Any, number: int,
    rng: np.random.Generator,
) -> PairDraw:  # fmt: skip
    """Draw pairs, the topics in turn and each in random order; an anchor by its chance among those left."""
    left = {topic: list(rows) for topic, rows in sorted(free.items()) if rows}
    chance_of = dict(zip(names, np.asarray(chances).tolist(), strict=True))
    drawn: list[tuple[str, str, str, float]] = []
    while left and len(drawn) < number:
        topics = list(left)
        for index in rng.permutation(len(topics))[: number - len(drawn)].tolist():
            rows = left[topics[index]]
            among = Counter(anchor for _new, anchor, _other in rows)
            weight = np.array([chance_of[anchor] for anchor in among])
            weight /= weight.sum()
            picked = int(rng.choice(len(weight), p=weight))
            anchor = list(among)[picked]
            choices = [row for row in rows if row[1] == anchor]
            row = choices[int(rng.integers(len(choices)))]
            drawn.append((*row, float(weight[picked]) / len(choices)))
            rows.remove(row)
            if not rows:
                del left[topics[index]]
    return PairDraw(
        tuple((new, other) for new, _anchor, other, _chance in drawn),
        tuple(anchor for _new, anchor, _other, _chance in drawn),
        tuple(chance for *_row, chance in drawn),
    )


def _name(study: Study, system: Participant) -> str:
    taken = set(Campaign.objects.filter(study=study).values_list("name", flat=True))
    number = 1
    while True:
        ending = f" {number}" if number > 1 else ""
        name = f"Placement of {system.external_id}"[: LONGEST_NAME - len(ending)] + ending
        if name not in taken:
            return name
        number += 1

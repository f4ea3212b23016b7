"""Lay out the free slots of campaigns by their policies, again after enough new judgments."""

import logging
import math
from datetime import datetime
from typing import Any, Final

import numpy as np
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Count, Q
from numpy.random import Generator
from numpy.typing import NDArray

from analysis.stats import adaptive_draws, policies
from analysis.stats.judge_tiers import Tier
from crowdrag import prepared_statements

from ..enums import AssignmentPolicy, CampaignState
from ..models import Campaign, JudgmentSums, PolicyState, Slot
from .choice_weights import COUNTED
from .pools import CampaignPool, load_pool
from .queries import compare_arms

#: Slots are laid out again when this share of them, and at least one, was taken or judged since.
NEWS: Final = 0.02
#: Slots are written so many at a time. Claims pass over those that are being written.
AT_ONCE: Final = 5_000
log = logging.getLogger(__name__)

_FREE = """
    SELECT id, questionnaire_id FROM annotation_slot WHERE campaign_id = %(campaign)s AND holder_id IS NULL
    ORDER BY questionnaire_id, number
"""
# Slots that somebody claims at this moment keep their positions.
_WRITE = """
    WITH here AS (
        SELECT id FROM annotation_slot WHERE id = ANY (%(ids)s::bigint[]) AND holder_id IS NULL
        FOR UPDATE SKIP LOCKED
    )
    UPDATE annotation_slot s SET control_position = p.control, unproven_position = p.unproven,
        trusted_position = p.trusted
    FROM here, unnest(%(ids)s::bigint[], %(control)s::float8[], %(unproven)s::float8[], %(trusted)s::float8[])
        AS p(id, control, unproven, trusted)
    WHERE s.id = here.id AND p.id = here.id
"""


def refresh_due(*, now: datetime) -> int:
    """Lay out the slots of open campaigns with enough news; return the number of campaigns."""
    done = 0
    for campaign in Campaign.objects.filter(state=CampaignState.OPEN, has_slots=True).exclude(
        policy=AssignmentPolicy.FIXED
    ):
        try:
            if not _is_due(campaign):
                continue
            refresh(campaign=campaign, now=now, rng=np.random.default_rng())
        except (InterfaceError, OperationalError):
            raise  # the sweep waits for the database
        except Exception:
            # A campaign that fails must not stop the others. Its slots keep their positions.
            log.exception("The slots of campaign %s could not be laid out", campaign.pk)
        else:
            done += 1
    return done


def refresh(*, campaign: Campaign, now: datetime, rng: Generator) -> PolicyState | None:
    """Score the questionnaires and lay out the free slots; None if the campaign's order is fixed.

    Claims go on meanwhile: the probability of a draw is known whatever part of the slots has its new positions.
    """
    if campaign.policy == AssignmentPolicy.FIXED or not campaign.has_slots:
        return None
    taken, submitted = _progress(campaign)
    loaded = load_pool(campaign)
    policy = policies.POLICIES[campaign.policy]
    scores: policies.Scores = {}
    if policy.score is not None and loaded.judgments and loaded.pool.first.size:
        scores = policy.score(loaded.pool, loaded.goal)
    _lay_out(campaign, loaded, scores, rng)
    return _keep(campaign, loaded, scores, taken, submitted, now)


def _lay_out(campaign: Campaign, loaded: CampaignPool, scores: policies.Scores, rng: Generator) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_FREE, {"campaign": campaign.pk})
        slots = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, 2)
    if not len(slots):
        return
    # Slots that were taken or freed since the pool was read get the weight of a neighbour of their questionnaire.
    index = np.searchsorted(loaded.questionnaires, slots[:, 1])
    free = np.bincount(index, minlength=len(loaded.questionnaires))
    total = loaded.pool.taken + loaded.pool.free
    pool = policies.with_free(loaded.pool, free=free, taken=np.maximum(total - free, 0))
    by_chance = policies.balanced_weights(pool)
    control = adaptive_draws.positions(by_chance, rng)
    weights = {tier: policies.slot_weights(scores[tier], pool) if tier in scores else by_chance for tier in Tier}
    positions = {tier: adaptive_draws.positions(weights[tier], rng) for tier in Tier}
    # In random order, so that slots which are being written are not neighbours on a circle.
    order = rng.permutation(len(slots))
    for start in range(0, len(order), AT_ONCE):
        part = order[start : start + AT_ONCE]
        _write(slots[part, 0], control[part], positions[Tier.UNPROVEN][part], positions[Tier.TRUSTED][part])


def _write(ids: Any, control: NDArray[np.float64], unproven: NDArray[np.float64], trusted: NDArray[np.float64]) -> None:
    arrays = {"ids": ids, "control": control, "unproven": unproven, "trusted": trusted}
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, {name: prepared_statements.array(values.tolist()) for name, values in arrays.items()})


@transaction.atomic
def _keep(
    campaign: Campaign, loaded: CampaignPool, scores: policies.Scores, taken: int, submitted: int, now: datetime
) -> PolicyState:
    earlier = PolicyState.objects.filter(campaign=campaign).values_list("epoch", flat=True).first()
    gain = float("nan")
    if scores:
        # Of the tier whose questionnaires the policy chooses by what they tell.
        gain = policies.advantage(scores[Tier.TRUSTED], loaded.pool)
    arms, effective = compare_arms(campaign)
    values = {
        "policy": campaign.policy,
        "epoch": 0 if earlier is None else earlier + 1,
        "taken": taken,
        "submitted": submitted,
        "judgments": loaded.judgments,
        "trusted_judges": loaded.trusted_judges,
        "advantage": None if math.isnan(gain) else gain,
        "arms": arms,
        "effective": effective,
        "computed_at": now,
    }
    return PolicyState.objects.update_or_create(campaign=campaign, defaults=values)[0]


def _is_due(campaign: Campaign) -> bool:
    state = PolicyState.objects.filter(campaign=campaign).first()
    if state is None or state.policy != campaign.policy:
        return True
    if Slot.objects.filter(campaign=campaign, holder__isnull=True, control_position__isnull=True).exists():
        return True
    taken, submitted = _progress(campaign)
    news = abs(taken - state.taken) + abs(submitted - state.submitted)
    return news >= max(1, math.ceil(NEWS * Slot.objects.filter(campaign=campaign).count()))


def _progress(campaign: Campaign) -> tuple[int, int]:
    """Return how many slots are held, and how many questionnaires have been submitted and count."""
    taken = Slot.objects.filter(campaign=campaign).aggregate(n=Count("pk", filter=Q(holder__isnull=False)))["n"]
    submitted = JudgmentSums.objects.filter(campaign=campaign, state__in=COUNTED, is_included=True).count()
    return taken, submitted

"""Draw a free slot at random with a known probability, where the order is not fixed (docs/methods/policies.md).

Each slot owns an arc of a circle of length 1; `annotation/policies` lays them out. A claim takes a fresh random number
and the first free slot at or after it (`analysis.stats.adaptive_draws` has the same in memory). There is one circle for
the control arm and one for each tier of judges. Each statement reads a few rows of an index, however many slots there
are.
"""

import hashlib
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from psycopg.types.numeric import Int8

from analysis.stats.judge_tiers import Tier, tier_of
from crowdrag import prepared_statements

from ..enums import Arm, AssignmentPolicy
from . import slots

CONTROL: Final = "control_position"
_OF_TIER: Final = {tier: f"{tier}_position" for tier in Tier}

_FREE = """
    campaign_id = %(campaign)s AND holder_id IS NULL AND questionnaire_id <> ALL (%(excluded)s::bigint[])
"""
_NEXT = """
    SELECT id, questionnaire_id FROM annotation_slot WHERE {free} AND {position} >= %(at)s
    ORDER BY {position} LIMIT 1 FOR UPDATE SKIP LOCKED
"""
# A slot's arc begins at the free slot before it, the first one's at the last one, a turn earlier.
_ARC = """
    mine.{position} - coalesce(
        (SELECT {position} FROM annotation_slot WHERE {free} AND {position} < mine.{position}
            ORDER BY {position} DESC LIMIT 1),
        (SELECT {position} FROM annotation_slot WHERE {free} AND {position} IS NOT NULL
            ORDER BY {position} DESC LIMIT 1) - 1)
"""
_PROBABILITIES = """
    SELECT count(*), sum({of_policy}), sum({of_control}) FROM annotation_slot mine
    WHERE mine.questionnaire_id = %(questionnaire)s AND mine.holder_id IS NULL
"""
_KEEP = """
    INSERT INTO annotation_assignmentchoice (assignment_id, policy, epoch, arm, tier, probability, free_slots)
    VALUES (%(assignment)s, %(policy)s, %(epoch)s, %(arm)s, %(tier)s, %(probability)s, %(free_slots)s)
"""


def _statements(position: str) -> tuple[str, str]:
    arcs = {
        name: _ARC.format(free=_FREE, position=column)
        for name, column in (("of_policy", position), ("of_control", CONTROL))
    }
    return _NEXT.format(free=_FREE, position=position), _PROBABILITIES.format(**arcs)


# Constant texts, so that they stay prepared.
_OF_POSITION: Final = {position: _statements(position) for position in (CONTROL, *_OF_TIER.values())}


@dataclass(frozen=True)
class DrawTerms:
    """How a campaign chooses its next questionnaire, and what is known of the judge.

    `control_share` is in percent; `epoch` is None if the slots were never laid out; `spam` is the judge's mean spam
    probability so far, None if it is not known.
    """

    policy: str
    control_share: int
    epoch: int | None
    spam: float | None

    @property
    def is_random(self) -> bool:
        """Whether questionnaires are drawn at random."""
        return self.policy != AssignmentPolicy.FIXED

    @property
    def limits_unproven(self) -> bool:
        """Whether further questionnaires go to judges about whom enough is known only."""
        return self.policy == AssignmentPolicy.COMPETENCE


@dataclass(frozen=True)
class DrawnSlot:
    """A locked slot, its questionnaire, and how it was chosen; `probability` is None if that is not known."""

    slot: int
    questionnaire: int
    arm: Arm
    tier: Tier
    probability: float | None
    free_slots: int


def is_control_judge(*, campaign: int, participant: int, control_share: int) -> bool:
    """Return whether a judge belongs to the random share whom no policy limits; always the same for a judge."""
    digest = hashlib.blake2b(f"{campaign}:{participant}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % 100 < control_share


def lock_drawn_slot(*, campaign: int, excluded: list[int], terms: DrawTerms, rng: Random) -> DrawnSlot | None:
    """Draw a free slot outside the excluded questionnaires and lock it until the end; None if there is none.

    With the probability of the control share, the control arm draws, else the policy. Slots that somebody else has
    locked at this moment are passed over. If no slot can be drawn, the next one in the fixed order is locked.
    """
    tier = tier_of(terms.spam)
    share = 1.0 if terms.policy == AssignmentPolicy.RANDOM else terms.control_share / 100
    of_policy = CONTROL if terms.policy == AssignmentPolicy.RANDOM else _OF_TIER[tier]
    arm = Arm.CONTROL if rng.random() < share else Arm.POLICY
    find, _unused = _OF_POSITION[CONTROL if arm == Arm.CONTROL else of_policy]
    arguments: dict[str, Any] = {"campaign": Int8(campaign), "excluded": _array(excluded)}
    with prepared_statements.cursor() as cursor:
        for at in (rng.random(), 0.0):
            cursor.execute(find, arguments | {"at": at})
            if (row := cursor.fetchone()) is not None:
                slot, questionnaire = int(row[0]), int(row[1])
                cursor.execute(_OF_POSITION[of_policy][1], arguments | {"questionnaire": Int8(questionnaire)})
                free, chosen, by_chance = cursor.fetchone()
                probability = None
                if chosen is not None and by_chance is not None:
                    probability = min(share * by_chance + (1.0 - share) * chosen, 1.0)
                return DrawnSlot(slot, questionnaire, arm, tier, probability, int(free))
    in_order = slots.lock_free_slot(campaign=campaign, excluded=excluded)
    if in_order is None:
        return None
    return DrawnSlot(*in_order, Arm.ORDER, tier, None, slots.of_questionnaire(in_order[1]).open().count())


def log_choice(*, assignment: int, drawn: DrawnSlot, terms: DrawTerms) -> None:
    """Store how the questionnaire of an assignment was chosen."""
    with prepared_statements.cursor() as cursor:
        cursor.execute(
            _KEEP,
            {
                "assignment": Int8(assignment),
                "policy": terms.policy,
                "epoch": Int8(terms.epoch or 0),
                "arm": str(drawn.arm),
                "tier": str(drawn.tier),
                "probability": drawn.probability,
                "free_slots": Int8(drawn.free_slots),
            },
        )


def _array(keys: list[int]) -> str:
    return "{" + ",".join(map(str, keys)) + "}"

"""What a policy looks at: a campaign's items, questionnaires and votes as arrays."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Avg, Case, Count, F, IntegerField, Q, Value, When
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from analysis.stats.goals import PEOPLE, Goal, GoalKind
from analysis.stats.judge_tiers import TRUSTED
from analysis.stats.policies import Pool, Votes
from crowdrag.studies.models import Participant
from writing.enums import Origin
from writing.models import Response

from ..models import Campaign, CampaignGoal, Item, Judgment, LiveCompetence, QuestionnaireItem, Slot
from ..quality import known_labels
from .choice_weights import COUNTED

Ints = NDArray[np.int64]
#: The spam probability of judges of whom none is known.
UNKNOWN_SPAM = 0.5
ALL_PEOPLE = 0


@dataclass(frozen=True, eq=False)
class CampaignPool:
    """A pool with the keys of its questionnaires.

    `system_names` are the systems of the pool, in its order: the keys of their writers, `ALL_PEOPLE` for all people.
    `goal` has the indices of systems in the pool for their names; None if the campaign has no goal.
    """

    pool: Pool
    questionnaires: Ints
    system_names: list[int]
    judgments: int
    trusted_judges: int
    goal: Goal | None


def _goal(goal: CampaignGoal | None, systems: list[int]) -> Goal | None:
    """Return a stored goal, with the indices of its systems in the pool for their names.

    None if the campaign has no goal, or none of two systems in the pool: then the ranking of all systems is asked.
    """
    if goal is None:
        return None
    people = Participant.objects.filter(pk__in=systems)
    keys = {PEOPLE: ALL_PEOPLE, **{name: pk for pk, name in people.values_list("pk", "external_id")}}
    index = {key: number for number, key in enumerate(systems)}
    named = tuple(str(index[keys[name]]) for name in goal.systems if keys.get(name) in index)
    if len(named) < len(goal.systems):
        return None
    return Goal(GoalKind(goal.kind), named, goal.margin, goal.width, goal.confidence)


def load_pool(campaign: Campaign) -> CampaignPool:
    """Read a campaign's items, questionnaires, slots, the votes that count so far, and its goal."""
    goal = CampaignGoal.objects.filter(campaign=campaign).first()
    slots = np.array(
        Slot.objects.filter(campaign=campaign).order_by("questionnaire").values("questionnaire")
        .annotate(free=Count("pk", filter=Q(holder__isnull=True)), all=Count("pk"))
        .values_list("questionnaire", "free", "all"),
        dtype=np.int64,
    ).reshape(-1, 3)  # fmt: skip
    questionnaires = slots[:, 0]
    known = {item for item, _dimension in known_labels.known_labels(campaign)}
    # An item of a corpus that does not name the response tells nothing about systems.
    items = np.array(
        Item.objects.filter(campaign=campaign)
        .annotate(one=Coalesce("pair__a", "response"), other=Coalesce("pair__b", Value(-1)))
        .filter(one__isnull=False).exclude(pk__in=known).order_by("pk").values_list("pk", "one", "other"),
        dtype=np.int64,
    ).reshape(-1, 3)  # fmt: skip
    keys, first, second = items.T
    responses = np.unique(np.r_[first, second[second >= 0]])
    topic, writer = _responses(responses)
    systems, system = np.unique(writer, return_inverse=True)
    sheet, entry, has_known = _entries(campaign, questionnaires, keys)
    votes, judgments = _votes(campaign, goal, keys, second >= 0)
    pool = Pool(
        first=np.searchsorted(responses, first),
        second=np.where(second >= 0, np.searchsorted(responses, second), -1),
        topic=topic,
        system=system.astype(np.int64),
        systems=len(systems),
        entry_questionnaire=sheet,
        entry_item=entry,
        known=has_known,
        taken=slots[:, 2] - slots[:, 1],
        free=slots[:, 1],
        votes=votes,
    )
    named = systems.tolist()
    return CampaignPool(pool, questionnaires, named, judgments, _trusted(campaign), _goal(goal, named))


def _responses(keys: Ints) -> tuple[Ints, Ints]:
    """Return the topic and the system of each response: models by their participant, all people together."""
    by_person = Case(
        When(origin=Origin.HUMAN, then=Value(ALL_PEOPLE)), default=F("participant"), output_field=IntegerField()
    )
    rows = Response.objects.filter(pk__in=keys.tolist()).order_by("pk").annotate(system_key=by_person)
    table = np.array(rows.values_list("topic", "system_key"), dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _entries(campaign: Campaign, questionnaires: Ints, items: Ints) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Return which questionnaire holds which item, and the share of known items of each questionnaire."""
    rows = QuestionnaireItem.objects.filter(questionnaire__campaign=campaign).order_by()
    table = np.array(list(rows.values_list("questionnaire", "item", "has_known_label").iterator()), dtype=np.int64)
    sheet, item, is_known = table.reshape(-1, 3).T
    index = np.searchsorted(questionnaires, sheet)
    n = np.bincount(index, minlength=len(questionnaires))
    known = np.bincount(index, weights=is_known, minlength=len(questionnaires))
    is_judged = np.isin(item, items)
    share = np.divide(known, n, out=np.zeros(len(n)), where=n > 0)
    return index[is_judged], np.searchsorted(items, item[is_judged]), share


def _votes(
    campaign: Campaign, goal: CampaignGoal | None, items: Ints, is_pair: NDArray[np.bool_]
) -> tuple[list[Votes], int]:
    """Return the votes by dimension, and the number of judgments.

    If the campaign has a goal, only the votes on its dimension are returned.
    """
    of_dimension = {
        each.dimension_id: each.dimension for each in campaign.campaign_dimensions.select_related("dimension")
    }
    rows = Judgment.objects.filter(
        assignment__questionnaire__campaign=campaign,
        assignment__state__in=COUNTED,
        assignment__is_included=True,
        dimension__in=of_dimension,
        repeat=0,
    ).order_by()
    columns = ("dimension", "item", "assignment__participant", "value")
    table = np.array(list(rows.values_list(*columns).iterator()), dtype=np.int64).reshape(-1, 4)
    spam_of = {
        (person, dimension): spam
        for person, dimension, spam in LiveCompetence.objects.filter(campaign=campaign).values_list(
            "participant", "dimension", "spam_probability"
        )
    }
    votes = []
    for key, dimension in sorted(of_dimension.items()):
        if goal is not None and key != goal.dimension_id:
            continue
        chosen = table[(table[:, 0] == key) & np.isin(table[:, 1], items)]
        item = np.searchsorted(items, chosen[:, 1])
        low, high = min(dimension.values), max(dimension.values)
        rating = (2.0 * chosen[:, 3] - low - high) / max(high - low, 1)
        # The left response is better where the value is low, and a rated response where it is high.
        lead = np.where(is_pair[item], -rating, rating)
        spam = np.array([spam_of.get((person, key), UNKNOWN_SPAM) for person in chosen[:, 2].tolist()], dtype=float)
        votes.append(Votes(item, lead, spam))
    return votes, len(table)


def _trusted(campaign: Campaign) -> int:
    people = LiveCompetence.objects.filter(campaign=campaign).order_by().values("participant")
    return people.annotate(spam=Avg("spam_probability")).filter(spam__lte=1.0 - TRUSTED).count()

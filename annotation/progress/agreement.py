"""Agreement and competence in a running campaign: judgments as arrays, and pure functions on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from django.db.models import Sum
from numpy.typing import NDArray

from analysis.stats import mace
from analysis.stats.agreement import AlphaUndefinedError, alpha_interval
from analysis.stats.competence import spam_posterior
from analysis.stats.labels import first_votes

from ..enums import AssignmentPolicy, AssignmentState
from ..judging.models import JudgmentQuerySet
from ..models import Campaign, Dimension, Item, Judgment, JudgmentSums
from ..policies.choice_weights import assignment_weights
from ..quality import known_labels

Ints = NDArray[np.int64]
COUNTED = (AssignmentState.SUBMITTED, AssignmentState.ACCEPTED)
PREFERENCE = (-1, 0, 1)
#: The number of judgments that are read at once.
PORTION = 20_000
_COLUMNS = ("assignment__questionnaire_id", "assignment_id", "item_id", "assignment__participant_id", "value")


@dataclass(frozen=True, eq=False)
class JudgmentArrays:
    """Judgments on one dimension, one entry each, in order of precedence within each item.

    Attributes
    ----------
    unit, coder, value : ndarray of int, shape (n_judgments,)
        Indices in `items`, `people` and `domain`.
    known : ndarray of int, shape (n_items,)
        Index of each item's known label, else -1.
    topic : ndarray of int, shape (n_items,)
        The topic of each item, from 0 to ``topics - 1``.
    weight : ndarray, shape (n_judgments,)
        Weights that make up for the choices of the campaign's policy in means over judgments; 1 where the order is
        fixed (docs/methods/policies.md).
    """

    dimension: Dimension
    domain: tuple[int, ...]
    items: Ints
    people: Ints
    unit: Ints
    coder: Ints
    value: Ints
    known: Ints
    topic: Ints
    topics: int
    weight: NDArray[np.float64]


def value_domain(dimension: Dimension) -> tuple[int, ...]:
    """Return the possible values of answers in ascending order: A, N, B for all preferences."""
    values = tuple(sorted(dimension.values))
    return PREFERENCE if set(values) <= set(PREFERENCE) else values


def count_judgments(campaign: Campaign) -> int:
    """Return the number of judgments that count so far."""
    sums = JudgmentSums.objects.filter(campaign=campaign, state__in=COUNTED, is_included=True)
    return sums.aggregate(n=Sum("judgments"))["n"] or 0


def load_judgments(campaign: Campaign) -> list[JudgmentArrays]:
    """Return the judgments by dimension, in the campaign's order."""
    dimensions = [
        each.dimension for each in campaign.campaign_dimensions.select_related("dimension").order_by("position")
    ]
    rows = _read(campaign)
    items, unit = np.unique(rows[:, 3], return_inverse=True)
    people, coder = np.unique(rows[:, 4], return_inverse=True)
    topic, topics = _topics(items)
    labels = known_labels.known_labels(campaign)
    of_assignment = {} if campaign.policy == AssignmentPolicy.FIXED else assignment_weights(campaign)
    arrays = []
    for dimension in dimensions:
        selected = np.flatnonzero(rows[:, 0] == dimension.pk)
        # In the order of questionnaires and their assignments, as in the analysis.
        selected = selected[np.lexsort((rows[selected, 2], rows[selected, 1], unit[selected]))]
        values = value_domain(dimension)
        index_of_value = {value: position for position, value in enumerate(values)}
        known = [index_of_value.get(labels.get((item, dimension.pk), 10**6), -1) for item in items.tolist()]
        # Stored values are options of the dimension: the database refuses others.
        position_of_value = np.searchsorted(np.array(values, dtype=np.int64), rows[selected, 5])
        arrays.append(
            JudgmentArrays(
                dimension=dimension,
                domain=values,
                items=items,
                people=people,
                unit=unit[selected],
                coder=coder[selected],
                value=position_of_value.astype(np.int64),
                known=np.array(known, dtype=np.int64),
                topic=topic,
                topics=topics,
                weight=_weights(of_assignment, rows[selected, 2]),
            )
        )
    return arrays


def _weights(of_assignment: dict[int, float], assignment: Ints) -> NDArray[np.float64]:
    if not of_assignment:
        return np.ones(len(assignment))
    return np.array([of_assignment.get(key, 1.0) for key in assignment.tolist()], dtype=np.float64)


def _read(campaign: Campaign) -> Ints:
    """Return the judgments that count, shape (n, 6): dimension and `_COLUMNS`. Few at a time are Python objects."""
    rows = iter(_rows(campaign).order_by().values_list("dimension_id", *_COLUMNS).iterator(chunk_size=PORTION))
    parts: list[Ints] = []
    while part := list(islice(rows, PORTION)):
        parts.append(np.array(part, dtype=np.int64))
    return np.concatenate(parts) if parts else np.empty((0, 6), dtype=np.int64)


def _rows(campaign: Campaign) -> JudgmentQuerySet:
    return Judgment.objects.filter(
        assignment__questionnaire__campaign=campaign,
        assignment__state__in=COUNTED,
        assignment__is_included=True,
        dimension__in=campaign.campaign_dimensions.values("dimension"),
        repeat=0,
    )


def _topics(items: Ints) -> tuple[Ints, int]:
    """Return the topic of each item, from 0, and the number of topics."""
    of = dict(Item.objects.filter(pk__in=items.tolist()).values_list("pk", "topic_id"))
    names, topic = np.unique([of[item] for item in items.tolist()], return_inverse=True)
    return topic.astype(np.int64), len(names)


# Only a few restarts, because figures are recomputed as judgments come in. The analysis uses more.
MACE = mace.MaceSettings(restarts=5)


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha of one dimension; None if undefined.

    `items` counts items judged by at least two people; `judgments` counts all judgments.
    """

    dimension: int
    alpha: float | None
    low: float | None
    high: float | None
    items: int
    judgments: int


@dataclass(frozen=True)
class Competence:
    """A judge's spam probability on one dimension with its interval, and the number of judgments.

    The estimate is from MACE, the interval from the posterior. The interval is None if it does not contain the
    estimate, because then the two contradict each other.
    """

    participant: int
    dimension: int
    spam_probability: float
    low: float | None
    high: float | None
    judgments: int


def compute(
    arrays: Sequence[JudgmentArrays], *, k: int, rng: np.random.Generator
) -> tuple[list[Agreement], list[Competence]]:
    """Return the figures of all dimensions. Deterministic, given the judgments and the generator."""
    agreements, competences = [], []
    for judged, start in zip(arrays, rng.spawn(len(arrays)), strict=True):
        agreements.append(agreement(judged, k=k))
        competences += competence(judged, rng=start)
    return agreements, competences


def agreement(judged: JudgmentArrays, *, k: int) -> Agreement:
    """Return alpha with its interval over topics and judges.

    Only the first k judgments of an item count. Otherwise items with known labels, which many more people judge, would
    dominate.
    """
    keep = first_votes(judged.unit, k)
    votes = (judged.unit[keep], judged.coder[keep], judged.value[keep])
    pairable, n = int((np.bincount(votes[0]) > 1).sum()), len(judged.unit)
    try:
        interval = alpha_interval(*votes, judged.topic, values=len(judged.domain), domain=judged.domain)
    except AlphaUndefinedError:
        return Agreement(judged.dimension.pk, None, None, None, pairable, n)
    return Agreement(judged.dimension.pk, interval.estimate, _known(interval.low), _known(interval.high), pairable, n)


def competence(judged: JudgmentArrays, *, rng: np.random.Generator) -> list[Competence]:
    """Return the spam probability of each judge, with its interval; empty if it cannot be estimated."""
    votes = (judged.unit, judged.coder, judged.value)
    try:
        model = mace.fit(
            *votes,
            rng=rng,
            items=len(judged.items),
            annotators=len(judged.people),
            labels=len(judged.domain),
            fixed=judged.known,
            settings=MACE,
        )
    except (mace.NoJudgmentsError, mace.SingleLabelError, mace.NoOverlapError):
        return []
    sure = spam_posterior(model, *votes, rng=rng, fixed=judged.known)
    judges = []
    for index, person in enumerate(judged.people):
        if not model.judgments[index]:
            continue
        spam, low, high = (float(ends[index]) for ends in (model.spam_probability, sure.low, sure.high))
        is_inside = low < spam < high
        judges.append(
            Competence(
                participant=int(person),
                dimension=judged.dimension.pk,
                spam_probability=spam,
                low=low if is_inside else None,
                high=high if is_inside else None,
                judgments=int(model.judgments[index]),
            )
        )
    return judges


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value

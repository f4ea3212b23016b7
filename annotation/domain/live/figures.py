"""Agreement and competence from a campaign's judgments so far: pure functions of `judged.Judged`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats import mace
from analysis.stats.agreement import AlphaUndefinedError, alpha_interval
from analysis.stats.competence import spamming
from analysis.stats.labels import first_votes

from .judged import Judged

# Few: the figures are computed again as judgments come in; the analysis takes more.
MACE = mace.Settings(restarts=5)


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha of one dimension; None where it is not defined.

    `items` were judged by two people or more; `judgments` are all.
    """

    dimension: int
    alpha: float | None
    low: float | None
    high: float | None
    items: int
    judgments: int


@dataclass(frozen=True)
class Competence:
    """Somebody's spam probability on one dimension with its interval, from so many judgments of theirs.

    The estimate is MACE's, the interval the posterior's; None where the estimate does not lie inside: the two do not
    tell one story then.
    """

    participant: int
    dimension: int
    spam_probability: float
    low: float | None
    high: float | None
    judgments: int


def compute(found: Sequence[Judged], *, k: int, rng: np.random.Generator) -> tuple[list[Agreement], list[Competence]]:
    """Return the figures of all dimensions. The same judgments and generator give the same figures."""
    agreements, competences = [], []
    for judged, start in zip(found, rng.spawn(len(found)), strict=True):
        agreements.append(agreement(judged, k=k))
        competences += competence(judged, rng=start)
    return agreements, competences


def agreement(judged: Judged, *, k: int) -> Agreement:
    """Return alpha with its interval over topics and judges.

    The first k judgments of an item count: items with known labels are judged by many more, and would drown the rest.
    """
    keep = first_votes(judged.unit, k)
    votes = (judged.unit[keep], judged.coder[keep], judged.value[keep])
    pairable, n = int((np.bincount(votes[0]) > 1).sum()), len(judged.unit)
    try:
        found = alpha_interval(*votes, judged.topic, values=len(judged.domain), domain=judged.domain)
    except AlphaUndefinedError:
        return Agreement(judged.dimension.pk, None, None, None, pairable, n)
    return Agreement(judged.dimension.pk, found.estimate, _known(found.low), _known(found.high), pairable, n)


def competence(judged: Judged, *, rng: np.random.Generator) -> list[Competence]:
    """Return the spam probability of everybody who judged, with its interval; nothing where it cannot be told."""
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
    sure = spamming(model, *votes, rng=rng, fixed=judged.known)
    found = []
    for place, person in enumerate(judged.people):
        if not model.judgments[place]:
            continue
        spam, low, high = (float(ends[place]) for ends in (model.spam_probability, sure.low, sure.high))
        is_inside = low < spam < high
        found.append(
            Competence(
                participant=int(person),
                dimension=judged.dimension.pk,
                spam_probability=spam,
                low=low if is_inside else None,
                high=high if is_inside else None,
                judgments=int(model.judgments[place]),
            )
        )
    return found


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value

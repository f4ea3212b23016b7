"""A judge trained on the study's own judgments: surface features of the texts, and a pairwise regression.

Its labels of a topic come from models that have not seen the judgments on that topic (cross-validation by topic), also
of new responses. They are stored like those of a language model: in a campaign of model judges, never in gold labels.
Each training makes a new judge, whose specification contains the weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from django.db.models import Count
from django.utils import timezone

from analysis.stats import pairwise_regression
from analysis.stats.pairwise_regression import TooFewGroupsError, Transferred
from analysis.stats.random_streams import named_rng
from analysis.text import surface
from crowdrag.jobs import lifecycle
from crowdrag.jobs.kinds import InputRejectedError, Work
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study, User
from writing.models import Response

from ..campaigns.questions import is_of_pairs
from ..enums import Inference, Judges
from ..models import Assignment, Campaign, Dimension, Judgment
from . import llm_campaigns, stimuli
from .stimuli import ItemSelection, Stimulus

KIND: Final = "judge.trained"
#: The name of the model in a judge's specification.
MODEL: Final = "pairwise regression on text features"
PEOPLE: Final = (Judges.CROWD, Judges.EXPERT)
BATCH: Final = 5000
_OPTIONS: Final = (-1, 0, 1)


@dataclass(frozen=True, eq=False)
class DimensionLabels:
    """What a trained judge says on one dimension: a value for each stimulus, and how well it was trained."""

    dimension: Dimension
    values: list[int]
    judgments: int
    transferred: Transferred

    @property
    def specification(self) -> dict[str, Any]:
        """The weights, and the mean log loss of held-out votes with and without the features."""
        model = self.transferred.model
        return {
            "weights": dict(zip(surface.FEATURES, np.round(model.weight, 6).tolist(), strict=True)),
            "side": round(model.side, 6),
            "threshold": round(model.threshold, 6),
            "penalty": model.penalty,
            "judgments": self.judgments,
            "log_loss": round(self.transferred.loss, 4),
            "log_loss_without_features": round(self.transferred.baseline, 4),
        }


def start(*, study: Study, source: Campaign, by: User | None = None, seed: int = 0) -> Run:
    """Start the training of a judge that labels the pairs of a campaign. A draft's questionnaires are generated."""
    llm_campaigns.generate_items(source=source, now=timezone.now())
    return lifecycle.start(study=study, kind=KIND, parameters={"source": source.pk}, by=by, seed=seed)


def work(work: Work) -> Callable[[], None]:
    """Train on all judgments of people in the study, and label the pairs of the campaign.

    Raises
    ------
    InputRejectedError
        if there is nothing to label, or if fewer than five topics have judgments.
    """
    run = work.run
    source = Campaign.objects.get(study=run.study, pk=run.parameters["source"])
    things = [
        thing
        for thing in stimuli.select_stimuli(source=source, which=ItemSelection.ALL, n=None, both=False, seed=0)
        if thing.b is not None
    ]
    if not things:
        raise InputRejectedError([{"field": "source", "message": "The campaign has no pairs to judge."}])
    questions = [
        row.dimension
        for row in source.campaign_dimensions.select_related("dimension").order_by("position")
        if is_of_pairs(row.dimension.values)
    ]
    votes = {dimension.pk: _votes(run.study, dimension.name) for dimension in questions}
    keys = {pk for thing in things for pk in thing.responses}
    keys |= {pk for counts in votes.values() for pair in counts for pk in pair}
    texts = _features(keys)
    labels = []
    for number, dimension in enumerate(questions):
        work.report(number, len(questions), dimension.label)
        try:
            labels.append(_labels(dimension, votes[dimension.pk], things, texts, run.seed))
        except TooFewGroupsError as error:
            raise InputRejectedError([{"field": "source", "message": f"{dimension.label}: {error}."}]) from error

    def effect() -> None:
        _store(run, source, things, labels, timezone.now())

    return effect


@dataclass(frozen=True, eq=False)
class _Text:
    """Features and topic of a response."""

    values: tuple[float, ...]
    topic: int


def _features(keys: Iterable[int]) -> dict[int, _Text]:
    rows = Response.objects.filter(pk__in=set(keys), is_included=True).exclude(text="").select_related("topic")
    return {
        row.pk: _Text(surface.features(row.text, row.topic.title), row.topic_id)
        for row in rows.iterator(chunk_size=1000)
    }


def _votes(study: Study, name: str) -> dict[tuple[int, int], list[int]]:
    """Return people's votes on a dimension: numbers of a, n and b by the left and the right response."""
    judgments = Judgment.objects.of_study(study).counted().pairwise().filter(item__campaign__judges__in=PEOPLE)
    rows = judgments.filter(dimension__name=name, value__in=_OPTIONS).order_by()
    counts: dict[tuple[int, int], list[int]] = {}
    for left, right, value, n in rows.values_list("item__pair__a", "item__pair__b", "value").annotate(n=Count("pk")):
        counts.setdefault((left, right), [0, 0, 0])[value + 1] = n
    return dict(sorted(counts.items()))


def _labels(
    dimension: Dimension,
    votes: dict[tuple[int, int], list[int]],
    things: list[Stimulus],
    texts: dict[int, _Text],
    seed: int,
) -> DimensionLabels:
    known = [pair for pair in votes if pair[0] in texts and pair[1] in texts]
    targets = [(thing.a, thing.b) for thing in things if thing.b is not None]
    width = len(surface.FEATURES)

    def differences(pairs: list[tuple[int, int]]) -> Any:
        rows = [np.subtract(texts[left].values, texts[right].values) for left, right in pairs]
        return np.array(rows, dtype=np.float64).reshape(-1, width)

    counts = np.array([votes[pair] for pair in known], dtype=np.float64).reshape(-1, len(_OPTIONS))
    transferred = pairwise_regression.transfer(
        differences(known),
        counts,
        np.array([texts[left].topic for left, _right in known], dtype=np.int64),
        differences(targets),
        np.array([texts[left].topic for left, _right in targets], dtype=np.int64),
        rng=named_rng(seed, f"trained judge {dimension.name}"),
    )
    allowed = [option in dimension.values for option in _OPTIONS]
    chances = np.where(allowed, transferred.chances, -1.0)
    values = (chances.argmax(axis=1) + _OPTIONS[0]).tolist()
    return DimensionLabels(dimension, values, int(counts.sum()), transferred)


def _store(run: Run, source: Campaign, things: list[Stimulus], labels: list[DimensionLabels], now: datetime) -> None:
    items = llm_campaigns.ensure_items(source=source, inference=Inference.INDIVIDUAL, things=things, now=now)
    participant = _participant(run.study, labels, now)
    llm_campaigns.ensure_assignments(items=list(items.values()), participant=participant, now=now)
    rows = Assignment.objects.filter(participant=participant, questionnaire__entries__item__in=items.values())
    assignment_of = dict(rows.values_list("questionnaire__entries__item", "pk"))
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment_id=assignment_of[items[thing]],
                item_id=items[thing],
                dimension=each.dimension,
                value=value,
                judged_at=now,
            )
            for each in labels
            for thing, value in zip(things, each.values, strict=True)
        ),
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    lifecycle.note(run=run, summary={"items": len(things), "judgments": len(things) * len(labels)})


def _participant(study: Study, labels: list[DimensionLabels], now: datetime) -> Participant:
    specification = {
        "task": "judge",
        "model": MODEL,
        "parameters": {
            "features": list(surface.FEATURES),
            "folds": pairwise_regression.FOLDS,
            "penalties": list(pairwise_regression.PENALTIES),
            "dimensions": {each.dimension.name: each.specification for each in labels},
        },
        "judgments": sum(each.judgments for each in labels),
    }
    digest = hashlib.sha256(json.dumps(specification, sort_keys=True).encode()).hexdigest()
    participant, _created = Participant.objects.get_or_create(
        study=study,
        kind=ParticipantKind.MODEL,
        external_id=f"trained-judge/{digest[:8]}",
        defaults={"created_at": now, "specification": specification},
    )
    return participant

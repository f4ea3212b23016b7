"""The topics and styles for which a model writes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import models

from crowdrag.studies.models import Study

from ..enums import Origin
from ..models import Response, RetrievedPassage, Style, Topic


class TopicSelection(models.TextChoices):
    """The selection of topics for a campaign."""

    NO_MODEL = "no_model", "topics without a response by a model"
    NOBODY = "nobody", "topics without a response by a person"
    ALL = "all", "all topics"
    CHOSEN = "chosen", "topics listed below"


@dataclass(frozen=True)
class Slot:
    """One topic in one style, with the topic's passages in rank order."""

    topic: Topic
    style: Style
    passages: tuple[str, ...]


def slot_of(*, topic: Topic, style: Style) -> Slot:
    """Return a slot with the passages of its topic."""
    return slots_of([(topic, style)])[0]


def slots_of(pairs: Sequence[tuple[Topic, Style]]) -> list[Slot]:
    """Return slots with the passages of their topics."""
    passages: dict[int, list[str]] = {topic.pk: [] for topic, _style in pairs}
    rows = RetrievedPassage.objects.filter(topic__in=passages).order_by("topic_id", "rank", "id")
    for topic, text in rows.values_list("topic_id", "passage__text"):
        passages[topic].append(text)
    return [Slot(topic=topic, style=style, passages=tuple(passages[topic.pk])) for topic, style in pairs]


def select_slots(
    *, study: Study, styles: Sequence[Style], which: str, topics: Iterable[str] = ()
) -> list[tuple[Topic, Style]]:
    """Return topic and style of each slot of a campaign, in order, without topics that have no passages."""
    candidates = (
        Topic.objects.filter(study=study).current().filter(models.Exists(_passages())).order_by("external_id", "id")
    )
    if which == TopicSelection.CHOSEN:
        candidates = candidates.filter(external_id__in=list(topics))
    written: set[tuple[str, str]] = set()
    if which in {TopicSelection.NO_MODEL, TopicSelection.NOBODY}:
        origin = Origin.MODEL if which == TopicSelection.NO_MODEL else Origin.HUMAN
        written = set(
            Response.objects.filter(study=study, origin=origin).values_list("topic__external_id", "style__name")
        )
    return [
        (topic, style) for topic in candidates for style in styles if (topic.external_id, style.name) not in written
    ]


def _passages() -> models.QuerySet[RetrievedPassage]:
    return RetrievedPassage.objects.filter(topic=models.OuterRef("pk"))

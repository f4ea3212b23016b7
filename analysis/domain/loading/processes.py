"""What the logs of responses tell about their writing (design 7.5; docs/methods/writing-process.md).

A submitted log never changes, so what it says is computed once and kept with the version of the method: going through
a log takes milliseconds, and a large study has ten thousands of them. Kept figures are deleted with their log.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from django.db import IntegrityError, transaction

from analysis.process import measures
from analysis.process.events import BrokenLogError
from analysis.process.matching import Sources
from crowdrag.studies.models import Study
from writing.editor import codec, logs
from writing.models import WritingLog
from writing.review.log_signals import passage_texts

from ...models import LogMeasures
from .. import inputs

MEASURES = measures.NAMES
#: So many logs are held at a time.
CHUNK = 100


def load(study: Study, responses: Sequence[inputs.Response]) -> tuple[inputs.Process, ...]:
    """Read what is known of the writing of each response that has a log; what is not known yet is computed and kept."""
    place = {response.name: i for i, response in enumerate(responses)}
    found = WritingLog.objects.filter(task__study=study, task__response__is_included=True)
    columns = ("pk", "task__response__external_id", "measures__version", "measures__values")
    names, kept = {}, {}
    for pk, name, version, values in found.values_list(*columns):
        names[pk] = name
        if version == measures.VERSION:
            kept[pk] = values
    kept |= _computed(sorted(set(names) - set(kept)))
    ordered = sorted((place[name], pk) for pk, name in names.items() if name in place and pk in kept)
    return tuple(inputs.Process(at, {name: kept[pk].get(name) for name in MEASURES}) for at, pk in ordered)


def _computed(keys: Sequence[int]) -> dict[int, measures.Measures]:
    """Go through some logs and keep what they say."""
    found: dict[int, measures.Measures] = {}
    # By topic, so that a topic's passages are prepared once.
    rows = WritingLog.objects.filter(pk__in=keys).order_by("task__topic_id", "pk")
    ordered = list(rows.values_list("pk", flat=True))
    for start in range(0, len(ordered), CHUNK):
        chosen = rows.filter(pk__in=ordered[start : start + CHUNK])
        made = dict(_measured(chosen.select_related("task").prefetch_related("batches", "sittings")))
        _keep(made)
        found |= made
    return found


def _measured(chosen: Iterable[WritingLog]) -> Iterable[tuple[int, measures.Measures]]:
    taken = list(chosen)
    sources = {topic: Sources(texts) for topic, texts in passage_texts({log.task.topic_id for log in taken}).items()}
    for log in taken:
        try:
            yield log.pk, measures.measure(logs.prefetched_events(log), sources[log.task.topic_id])
        except (codec.BrokenLog, BrokenLogError):
            yield log.pk, measures.unknown()


def _keep(made: dict[int, measures.Measures]) -> None:
    """Keep figures. A log that was erased meanwhile has no row to keep them with: then they are not kept."""
    with suppress(IntegrityError), transaction.atomic():
        there = set(WritingLog.objects.filter(pk__in=made).select_for_update(no_key=True).values_list("pk", flat=True))
        LogMeasures.objects.bulk_create(
            [
                LogMeasures(log_id=pk, version=measures.VERSION, values=values)
                for pk, values in made.items()
                if pk in there
            ],
            update_conflicts=True,
            unique_fields=["log"],
            update_fields=["version", "values"],
        )

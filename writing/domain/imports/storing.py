"""What all imports share when they write."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study

BATCH = 2000
T = TypeVar("T")
Person = tuple[ParticipantKind, str]


def hold(study: Study) -> None:
    """Keep other imports into this study waiting until the transaction ends: two at once would store the same row twice."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def ensure_participants(
    *, study: Study, people: Iterable[Person], now: datetime, specification: dict[str, Any] | None = None
) -> dict[Person, Participant]:
    """Return participants by kind and external id; who is new is made, with this specification if it is a model or system."""
    wanted = dict.fromkeys(people)
    kinds = {kind for kind, _ in wanted}
    known = Participant.objects.filter(study=study, kind__in=kinds).order_by("id")
    found = {key: row for row in known if (key := (ParticipantKind(row.kind), row.external_id)) in wanted}
    missing = [
        Participant(
            study=study,
            kind=kind,
            external_id=external_id,
            created_at=now,
            specification=(specification or {"model": external_id}) if kind == ParticipantKind.MODEL else {},
        )
        for kind, external_id in wanted
        if (kind, external_id) not in found
    ]
    for row in Participant.objects.bulk_create(missing, batch_size=BATCH):
        found[ParticipantKind(row.kind), row.external_id] = row
    return found


def batched(values: Iterable[T], size: int = 5000) -> Iterator[Sequence[T]]:
    """Cut into batches that fit into one query."""
    rest = iter(values)
    while batch := tuple(islice(rest, size)):
        yield batch

"""What a run used, as it was then; a fingerprint of what counts now; and a study read as of one moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import BigIntegerField, Count, F, Sum

from annotation.models import Judgment
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from writing.models import Response

from .arrays import Inputs, unpack
from .models import Snapshot


def inputs(run: Run) -> Inputs:
    """Return the inputs of a run as they were when it read them."""
    return unpack(bytes(Snapshot.objects.values_list("payload", flat=True).get(run=run)))


def keep(*, run: Run, inputs: Inputs, mark: dict[str, int], taken_at: datetime) -> None:
    """Keep what a run read, with sums over what counted then (`inputs_fingerprint`)."""
    Snapshot.objects.create(
        run=run,
        pool=inputs.pool,
        digest=inputs.digest,
        judgments=len(inputs.main.unit),
        responses=len(inputs.responses),
        mark=mark,
        payload=inputs.pack(),
        created_at=taken_at,
    )


def inputs_fingerprint(study: Study) -> dict[str, int]:
    """Sums over the judgments and responses that count now; every change of one changes a sum."""
    big = BigIntegerField()
    judgments = Judgment.objects.of_study(study).counted()
    sums: dict[str, Any] = judgments.aggregate(
        judgments=Count("id"),
        ids=Sum(F("id") + 0, output_field=big),
        answers=Sum(F("id") * F("value"), output_field=big),
    )
    responses = Response.objects.filter(study=study).included()
    sums |= responses.aggregate(responses=Count("id"), response_ids=Sum(F("id") + 0, output_field=big))
    return {name: value or 0 for name, value in sums.items()}


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Read all that the block reads from one snapshot of the database, and write nothing.

    Inside of another transaction there is no such snapshot to be had, and durable says so.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield

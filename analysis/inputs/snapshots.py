"""Snapshots of a run's inputs, fingerprints of the present data, and reading as of one moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import BigIntegerField, Count, F, Sum

from annotation.models import JudgmentSums
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from writing.models import Response

from .arrays import Inputs, unpack
from .models import Snapshot


def inputs(run: Run) -> Inputs:
    """Return the inputs of a run as it read them."""
    return unpack(bytes(Snapshot.objects.values_list("payload", flat=True).get(run=run)))


def keep(*, run: Run, inputs: Inputs, mark: dict[str, int], taken_at: datetime) -> None:
    """Store the inputs of a run, with sums over the valid rows (`inputs_fingerprint`)."""
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
    """Return sums over the valid judgments and responses; any change of one changes a sum."""
    kept = JudgmentSums.objects.filter(campaign__study=study).counted()
    sums: dict[str, Any] = kept.aggregate(judgments=Sum("judgments"), ids=Sum("id_sum"), answers=Sum("answer_sum"))
    responses = Response.objects.filter(study=study).included()
    sums |= responses.aggregate(responses=Count("id"), response_ids=Sum(F("id") + 0, output_field=BigIntegerField()))
    return {name: int(value or 0) for name, value in sums.items()}


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Run the block in one read-only database snapshot.

    This is impossible inside another transaction, and `durable` raises an error.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@contextmanager
def one_moment() -> Iterator[None]:
    """Run the block in one read-only database snapshot, or in the transaction that is already open."""
    if connection.in_atomic_block:
        yield
        return
    with repeatable_read():
        yield

"""What a run used, as it was then."""

from datetime import datetime

from crowdrag.jobs.models import Run

from ..models import Snapshot
from .inputs import Inputs, unpack


def inputs(run: Run) -> Inputs:
    """Return the inputs of a run as they were when it read them."""
    return unpack(bytes(Snapshot.objects.values_list("payload", flat=True).get(run=run)))


def keep(*, run: Run, inputs: Inputs, mark: dict[str, int], taken_at: datetime) -> None:
    """Keep what a run read, with sums over what counted then (`freshness.mark`)."""
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

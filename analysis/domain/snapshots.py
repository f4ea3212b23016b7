"""What a run used, as it was then."""

from crowdrag.runs.models import Run

from ..models import Snapshot
from .inputs import Inputs, unpack


def inputs(run: Run) -> Inputs:
    """Return the inputs of a run as they were when it read them."""
    return unpack(bytes(Snapshot.objects.values_list("payload", flat=True).get(run=run)))

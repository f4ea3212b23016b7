"""Tables of long work, one model a file."""

from .artifact import Artifact
from .beat import WorkerBeat
from .duty import Duty
from .run import Run
from .unit import Unit
from .upload import Upload

__all__ = ["Artifact", "Duty", "Run", "Unit", "Upload", "WorkerBeat"]

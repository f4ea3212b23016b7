"""Tables of the analysis, one model a file."""

from .encoder import Encoder
from .encoding import Encoding
from .finding import Finding
from .generation import Generation
from .likeness import Likeness
from .measures import LogMeasures
from .snapshot import Snapshot
from .table import Table

__all__ = ["Encoder", "Encoding", "Finding", "Generation", "Likeness", "LogMeasures", "Snapshot", "Table"]

"""Tables of the analysis, one model a file."""

from .measures import LogMeasures
from .snapshot import Snapshot
from .table import Table

__all__ = ["LogMeasures", "Snapshot", "Table"]

"""Tables of the analysis, one model a file."""

from .snapshot import Snapshot
from .table import Table

__all__ = ["Snapshot", "Table"]

"""Result tables, one file a family; `compute` makes them all (docs/results.md)."""

from .computing import Results, compute
from .schema import COLUMNS

__all__ = ["COLUMNS", "Results", "compute"]

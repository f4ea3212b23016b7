"""Rows to arrays: what of a study counts now, as the inputs of a run."""

from .judged import NothingToAnalyseError, load

__all__ = ["NothingToAnalyseError", "load"]

"""Reports: a finished analysis as a value, and that as HTML, PDF, LaTeX and one archive (docs/guides/reports.md)."""

from .builder import report, whole_table
from .types import Report

__all__ = ["Report", "report", "whole_table"]

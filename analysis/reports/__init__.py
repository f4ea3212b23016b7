"""Reports: a finished analysis as a value, and its output as HTML, PDF, LaTeX and ZIP (docs/guides/reports.md)."""

from .builder import report, whole_table
from .types import Report

__all__ = ["Report", "report", "whole_table"]

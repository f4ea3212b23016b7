"""Statistics of judgments and texts: methods, runs, reports."""

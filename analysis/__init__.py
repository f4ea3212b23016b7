"""What the judgments and the texts say: methods, runs, reports."""

"""Imports of judging: questionnaires, external judgments, the published corpus."""

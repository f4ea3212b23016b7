"""Screening: what reviewers see before they accept or reject judgments (docs/methods/screening.md)."""

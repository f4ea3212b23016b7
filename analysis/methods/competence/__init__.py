"""Competence of judges, and the labels that their votes give (docs/methods/competence.md)."""

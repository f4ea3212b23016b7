"""Corpora: a study as one file that others can use and another system can take in (docs/guides/export.md)."""

"""Prolific's API: one door to it, and how its words are made (docs/guides/prolific.md)."""

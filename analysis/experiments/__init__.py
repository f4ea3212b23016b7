"""Experiments on what retrieval does to generation, as runs (docs/methods/experiments.md)."""

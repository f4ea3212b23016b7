"""Experiments on the effect of retrieval on generation (docs/methods/experiments.md)."""

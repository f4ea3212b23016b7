"""Uplift RAG as an experiment: labels, training, answers by every method, tables. docs/methods/uplift.md."""

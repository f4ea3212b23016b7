"""Fair RAG as an experiment (docs/methods/fair-ranking.md)."""

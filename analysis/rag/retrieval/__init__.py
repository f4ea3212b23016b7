"""Retrievers that rank documents for a question: BM25, SPLADE, dense bi-encoders, known scores, an oracle.

Each scores the candidates of a query (`protocols.Retriever`). Those that can search a large corpus also find its best
documents (`search.Searcher`). docs/methods/retrieval.md.
"""

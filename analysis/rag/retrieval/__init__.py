"""Who ranks documents for a question: BM25, SPLADE, dense bi-encoders, given scores, an oracle.

Each scores the candidates of a query (`shapes.Retriever`), and those that can search a large corpus find its best
documents (`search.Searcher`). docs/methods/retrieval.md.
"""

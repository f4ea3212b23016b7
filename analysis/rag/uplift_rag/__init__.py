"""Uplift RAG: which documents help a generator beyond its own knowledge, and a reranker that learns to find them.

Qu et al., "Uplift-RAG: Uplift-Driven Knowledge Preference Alignment for Retrieval-Augmented Generation".
docs/methods/uplift.md.
"""

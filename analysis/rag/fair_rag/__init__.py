"""Fair RAG: what fair rankings do to what a generator says and to whom it cites (fair_rag; design 7.7)."""

#: Stands for all retrievers together in tables.
ALL = "all"

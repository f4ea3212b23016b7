"""Fair RAG: how fair rankings change what a generator says and which documents it cites (fair_rag; design 7.7)."""

#: The name of all retrievers together in tables.
ALL = "all"

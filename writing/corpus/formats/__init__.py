"""The file formats of RAG evaluation: what they hold as values, and their readers and writers."""

"""Retrieval-augmented generation: encoders, retrievers, generators and experiments. Without Django."""

"""How alike responses are by a neural encoder: encoded once, kept, scored in runs of their own."""

"""How long responses are."""

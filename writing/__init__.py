"""Topics, passages, responses and their writing logs."""

"""Topics, passages, responses and their statements."""

"""Topics, passages, responses and the record of how they were written."""

"""Reading ease (docs/methods/readability.md)."""

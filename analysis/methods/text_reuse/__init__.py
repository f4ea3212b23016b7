"""Text reuse (docs/methods/text-reuse.md)."""

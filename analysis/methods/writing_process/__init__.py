"""How responses were written, by their logs (docs/methods/writing-process.md)."""

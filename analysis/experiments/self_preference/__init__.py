"""Self-preference as an experiment (docs/methods/self-preference.md)."""

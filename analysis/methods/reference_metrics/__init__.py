"""Reference-based metrics, BERTScore among them (docs/methods/reference-metrics.md)."""

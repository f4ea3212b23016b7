"""The baselines that uplift RAG is compared with, one per file, all on the protocol in `protocol`."""

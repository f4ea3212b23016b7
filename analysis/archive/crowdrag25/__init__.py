"""The layout in which CrowdRAG-25 was published, written from a study (docs/guides/export.md)."""

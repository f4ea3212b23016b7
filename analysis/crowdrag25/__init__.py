"""The layout in which the CrowdRAG-25 corpus was published: exports and releases can be written in it."""

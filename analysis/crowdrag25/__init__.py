"""The layout of the published CrowdRAG-25 corpus, for exports and releases."""

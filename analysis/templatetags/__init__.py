"""Tags of pages of results."""

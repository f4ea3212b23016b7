"""Tags of pages of runs."""

"""Pages of studies and people."""

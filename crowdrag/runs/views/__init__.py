"""Pages of long work."""

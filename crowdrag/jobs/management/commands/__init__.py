"""Commands of long work."""

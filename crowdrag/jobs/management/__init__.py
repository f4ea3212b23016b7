"""Management of long work."""

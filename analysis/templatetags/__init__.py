"""Template tags of results pages."""

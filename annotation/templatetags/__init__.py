"""Template tags of judging."""

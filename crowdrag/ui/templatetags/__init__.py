"""Template tags of the user interface."""

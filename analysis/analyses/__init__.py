"""Analyses of a study: starting, running, updating them, and the pages of their results."""

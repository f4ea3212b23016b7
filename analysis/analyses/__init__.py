"""Analyses of a study: starting, running and updating them, and pages of results."""

"""Releases of a study: numbered versions that others can find, load and cite."""

"""Measurements of the figures that the project promises: ``python -m bench [name ...]``."""

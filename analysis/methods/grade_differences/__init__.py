"""Differences between grades of origins and styles (docs/methods/significance.md)."""

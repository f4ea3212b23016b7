"""Stochastic rankings and the exposure of items: pure functions of arrays (design 7.7)."""

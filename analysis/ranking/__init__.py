"""Stochastic rankings and the exposure that they give to items: pure functions of arrays (design 7.7)."""

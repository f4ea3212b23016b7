"""Inputs of runs: database rows as arrays."""

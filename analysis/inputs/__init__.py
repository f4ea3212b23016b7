"""Rows to arrays: what a run computes from."""

"""Commands of operations."""

"""Management of operations."""

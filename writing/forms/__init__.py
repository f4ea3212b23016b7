"""Forms of writing."""

"""Import of what judging holds."""

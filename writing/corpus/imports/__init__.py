"""Import of what writing holds: read, check, then store in one transaction, or say what is wrong and store nothing."""

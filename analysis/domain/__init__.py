"""What can be done: module the noun, function the verb."""

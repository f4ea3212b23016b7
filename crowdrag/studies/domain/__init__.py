"""What can be done to studies and people: module the noun, function the verb."""

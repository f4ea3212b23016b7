"""What can be done with language models: module the noun, function the verb."""

"""What can be done to long work: module the gerund, function the verb."""

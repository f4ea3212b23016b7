"""Review of responses: the queue, context, signals with evidence, and decisions."""

"""What a reviewer works with: the queue, what is known of a response, signals with evidence, the decisions."""

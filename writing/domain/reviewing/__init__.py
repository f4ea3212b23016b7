"""What a reviewer works with: the queue, what is known of a response, and signals with their evidence.

The decisions themselves are in `tasks.reviewing`.
"""

"""Long work: runs, their units and files, and the queues that carry them."""

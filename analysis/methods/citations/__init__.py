"""What responses cite, in which order, and where."""

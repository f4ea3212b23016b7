"""What is done and asked."""

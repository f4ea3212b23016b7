"""What recruitment does."""

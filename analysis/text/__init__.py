"""Text measures as pure functions of strings."""

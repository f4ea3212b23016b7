"""French formats."""

"""The replay of a writing log: its sessions merged into one, and the document that the player shows."""

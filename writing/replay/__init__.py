"""The replay of a writing log: the merged sessions, and the document for the player."""

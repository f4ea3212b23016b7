"""Messages to other systems when something ends."""

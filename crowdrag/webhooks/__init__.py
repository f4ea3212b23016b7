"""Webhooks: messages to other systems when something ends."""

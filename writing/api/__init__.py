"""Endpoints of topics, passages, responses, their logs, and imports."""

"""Endpoints of judging."""

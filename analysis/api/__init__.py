"""Endpoints of analyses and releases."""

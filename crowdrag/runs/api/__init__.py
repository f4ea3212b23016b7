"""Endpoints of long work."""

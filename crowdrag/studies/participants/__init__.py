"""Participants: identity, consent, blocks, dashboard, withdrawal and erasure."""

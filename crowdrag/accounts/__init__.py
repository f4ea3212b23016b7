"""Accounts of users: sign-in, API tokens with their scopes, limits on failed sign-ins, and removal."""

"""Accounts of users: sign-in, API tokens with their scopes, and limits on failed sign-ins."""

"""Who may come in as a user: sign-in, API tokens with their scopes, and limits on failed sign-ins."""

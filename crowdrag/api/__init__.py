"""The API: tokens and their scopes, what all endpoints share, and the endpoints of studies and members."""

"""Who looked at what of people who take part, and who failed to sign in: a trail that cannot be edited."""

"""Who looked at what of people who take part: a log that cannot be edited."""

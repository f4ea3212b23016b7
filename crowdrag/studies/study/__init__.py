"""A study and its members: what it says of itself, who may do what in it."""

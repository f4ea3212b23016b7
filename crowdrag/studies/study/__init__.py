"""A study and its members: its description, and the members' roles."""

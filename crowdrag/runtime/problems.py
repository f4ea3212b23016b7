"""What can go wrong at start, said so that a person knows what to do next."""


class Problem(Exception):
    """Something that a person must fix; its text says what and how."""

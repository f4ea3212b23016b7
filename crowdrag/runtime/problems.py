"""What can go wrong at start, said so that a person knows what to do next."""


class Problem(Exception):  # noqa: N818 - it reads as what it is: a problem to be told
    """Something that a person must fix; its text says what and how."""

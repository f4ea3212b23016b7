"""What can go wrong at start, said so that a person knows what to do next."""

# The status with which a supervisor of the stores ends that found another at work.
ALREADY = 3


class Already(Exception):  # noqa: N818 - it is no error
    """Another supervisor works on the folder."""


class Problem(Exception):  # noqa: N818 - it reads as what it is: a problem to be told
    """Something that a person must fix; its text says what and how."""

"""How many examples Hypothesis tries: few in `make test`, several times as many in `make test-all`."""

import os

_TIMES = int(os.environ.get("CROWDRAG_EXAMPLES", "1"))


def examples(count: int) -> int:
    """Return how many examples to try where `make test` tries `count`."""
    return count * _TIMES

"""Independent numerical work on all processors: NumPy releases Python's lock while it works on large arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def map_in_threads(function: Callable[[Argument], Result], arguments: Iterable[Argument]) -> list[Result]:
    """Call a function with each argument, as many at once as there are processors for this process.

    The results are in the order of the arguments, so they do not depend on the number of processors if no call changes
    what another one reads, and each has its own random generator. An error of a call is raised.

    Examples
    --------
    >>> map_in_threads(abs, [-2, 1])
    [2, 1]
    """
    each = list(arguments)
    workers = min(len(each), processors())
    if workers < 2:
        return [function(argument) for argument in each]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, each))


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

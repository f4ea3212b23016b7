"""Calls in threads give what calls in turn give, in the order of their arguments."""

import os
import threading

import pytest

from analysis.stats.threads import map_in_threads


@pytest.mark.parametrize("processors", [1, 2, 8])
def test_results_are_in_the_order_of_the_arguments(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(processors)))
    assert map_in_threads(lambda number: number**2, range(20)) == [number**2 for number in range(20)]
    assert map_in_threads(abs, []) == []


def test_calls_run_at_the_same_time_where_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    both = threading.Barrier(2, timeout=10)
    assert sorted(map_in_threads(lambda _number: both.wait(), range(2))) == [0, 1]


def test_an_error_of_one_call_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda number: 1 / number, [1, 0, 2])

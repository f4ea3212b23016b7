"""Calls in forked processes, in a fresh interpreter: in this one, libraries that forbid a fork may be loaded."""

import subprocess
import sys
import textwrap

import pytest

from analysis.stats import processes

BEGIN = """
import os, time, sys
from analysis.stats.processes import Calls, ProcessEndedError, is_safe
"""


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


needs_fork = pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="processes are not forked here")


@needs_fork
def test_results_come_in_order_from_several_processes():
    printed = run("""
        import threading
        def call(number):
            time.sleep(0.2 if number == 0 else 0.01)
            return number * number, os.getpid()
        with Calls(call, range(6), at_once=3) as calls:
            results = list(calls)
        print(*[result for result, _pid in results], len({pid for _, pid in results} - {os.getpid()}))
    """)
    assert printed[:-1] == ["0", "1", "4", "9", "16", "25"]
    assert int(printed[-1]) == 3


@needs_fork
def test_an_error_of_a_call_is_raised_here_and_ends_the_rest():
    printed = run("""
        def call(number):
            if number == 1:
                raise KeyError("second")
            time.sleep(0 if number < 2 else 600)
        began = time.monotonic()
        try:
            with Calls(call, range(3), at_once=2) as calls:
                list(calls)
        except KeyError as error:
            print(error.args[0], time.monotonic() - began < 60)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("none")
    """)
    assert printed == ["second", "True", "none"]


@needs_fork
def test_an_error_that_cannot_be_sent_keeps_its_message():
    printed = run("""
        class TwoPartsError(Exception):
            def __init__(self, first, second):
                super().__init__(first + second)
        def call(number):
            raise TwoPartsError("a", "b")
        try:
            with Calls(call, range(2), at_once=2) as calls:
                list(calls)
        except RuntimeError as error:
            print(error)
    """)
    assert printed[-1].endswith("ab")


@needs_fork
def test_a_killed_process_is_an_error_and_not_a_wait():
    printed = run("""
        import signal
        def call(number):
            if number == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return number
        try:
            with Calls(call, range(2), at_once=2) as calls:
                list(calls)
        except ProcessEndedError:
            print("ended")
    """)
    assert printed == ["ended"]


@needs_fork
def test_processes_end_when_the_first_one_is_killed():
    """They end with their next result, as nobody reads it."""
    code = BEGIN + textwrap.dedent("""
        def call(number):
            print(os.getpid(), flush=True)
            time.sleep(0.3)
        with Calls(call, range(10_000), at_once=2) as calls:
            list(calls)
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as first:
        first.stdout.readline()
        first.kill()
        first.stdout.read()  # ends when the last process that could print has ended


def test_calls_run_here_where_threads_would_be_missing():
    printed = run("""
        sys.modules["typst"] = sys
        assert not is_safe()
        with Calls(lambda number: os.getpid() == os.getpid() and number, [3, 4], at_once=2) as calls:
            print(*calls, len(calls._processes))
    """)
    assert printed == ["3", "4", "0"]


def test_one_call_needs_no_process():
    with processes.Calls(abs, [-1], at_once=4) as calls:
        assert list(calls) == [1]
    with processes.Calls(abs, [], at_once=4) as calls:
        assert list(calls) == []

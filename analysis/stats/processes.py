"""Independent work on all processors, in forked processes: for Python code, which threads would do one after another.

A forked process starts with everything that this one has in memory, so arguments are not copied. Results are pickled.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Generic, Self, TypeVar

from analysis.stats.threads import processors

Argument = TypeVar("Argument")
Result = TypeVar("Result")

#: Libraries that start threads of their own when they first work, and wait for them: a fork would not have them.
_THREADED = ("vl_convert", "typst", "torch")
_NUMBER = 4  # bytes of the number of a call
_MOST = 10_000  # calls: their numbers fit into a pipe, and more are too short to be worth it


class ProcessEndedError(RuntimeError):
    """A process ended without a result, for example because memory ran out."""


class Calls(Generic[Result]):
    """Calls of a function in forked processes, which begin at once; iterate over the results, in order.

    Use it in a `with` statement: leaving it ends all processes, whatever they are doing. If this process is killed,
    they end with their next result.

    `at_once` is the number of processes, by default that of the processors.

    The function must not use connections that were open before, such as that to the database. On one processor, or
    where processes cannot be forked safely (no fork, or a library's threads would be missing), the calls run here, one
    after another.

    Examples
    --------
    >>> with Calls(abs, [-2, 1]) as calls:
    ...     list(calls)
    [2, 1]
    """

    def __init__(
        self, function: Callable[[Argument], Result], arguments: Sequence[Argument], *, at_once: int | None = None
    ) -> None:
        self._count = len(arguments)
        self._call: Callable[[int], Result] = lambda number: function(arguments[number])
        self._processes: dict[Connection, int] = {}
        workers = min(self._count, at_once or processors())
        if workers < 2 or self._count > _MOST or not is_safe():
            return
        tasks, numbers = os.pipe()
        os.write(numbers, b"".join(number.to_bytes(_NUMBER, "little") for number in range(self._count)))
        os.close(numbers)
        for _ in range(workers):
            self._fork(tasks)
        os.close(tasks)

    def _fork(self, tasks: int) -> None:
        receiver, sender = Pipe(duplex=False)
        pid = os.fork()
        if pid:
            sender.close()
            self._processes[receiver] = pid
            return
        try:
            for sibling in (receiver, *self._processes):
                sibling.close()
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process answers it, and ends this one
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._work(tasks, sender)
        finally:
            os._exit(0)  # runs nothing that belongs to the first process

    def _work(self, tasks: int, sender: Connection) -> None:
        """Call the function for the next number until none is left, and send the results."""
        while len(read := os.read(tasks, _NUMBER)) == _NUMBER:
            number = int.from_bytes(read, "little")
            try:
                message = pickle.dumps((number, self._call(number), None), pickle.HIGHEST_PROTOCOL)
            except Exception as error:  # noqa: BLE001 -- raised again by the first process
                message = _error_message(number, error)
            sender.send_bytes(message)

    def __iter__(self) -> Iterator[Result]:
        """Yield the results in the order of the arguments; an error of a call is raised."""
        if not self._processes:
            yield from map(self._call, range(self._count))
            return
        results: dict[int, Result] = {}
        received = iter(self._received())
        for number in range(self._count):
            while number not in results:
                done, result = next(received)
                results[done] = result
            yield results.pop(number)

    def _received(self) -> Iterator[tuple[int, Result]]:
        """Yield the results as they come."""
        open_pipes = set(self._processes)
        while open_pipes:
            for receiver in wait(list(open_pipes)):
                assert isinstance(receiver, Connection)
                try:
                    number, result, error = pickle.loads(receiver.recv_bytes())  # noqa: S301 -- of our own process
                except EOFError:
                    open_pipes.discard(receiver)
                    continue
                if error is not None:
                    raise error
                yield number, result
        raise ProcessEndedError("a process ended without its result: it was killed, perhaps for lack of memory")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    def end(self) -> None:
        """End all processes."""
        for receiver, pid in self._processes.items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            receiver.close()
        self._processes.clear()


def is_safe() -> bool:
    """Return whether this process can be forked: libraries that keep threads of their own must not have begun."""
    return hasattr(os, "fork") and sys.platform != "darwin" and not any(name in sys.modules for name in _THREADED)


def _error_message(number: int, error: Exception) -> bytes:
    try:
        message = pickle.dumps((number, None, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(message)  # noqa: S301 -- some errors can be written, but not read
    except Exception:  # noqa: BLE001 -- whatever its own methods raise
        return pickle.dumps((number, None, RuntimeError(f"{type(error).__name__}: {error}")), pickle.HIGHEST_PROTOCOL)
    return message

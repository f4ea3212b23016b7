"""Between the thread that asks, which holds the database's connection, and an event loop with many calls in flight.

`asgiref.async_to_sync` does the same, but waits for ever when the asking thread is interrupted (Ctrl-C, a task's time
limit): its loop goes on handing work to a thread that is no longer there.
"""

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from asgiref.sync import sync_to_async

T = TypeVar("T")
JOIN_SECONDS = 5.0


class RunInCaller(Protocol):
    """Runs a function in the thread that asked, from the event loop."""

    async def __call__(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Return what the function returns, or raise what it raises."""
        ...


class InterruptedCallError(Exception):
    """The thread that asked was interrupted and runs nothing more."""


async def run_in_django(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run a function where Django runs synchronous code of asynchronous callers."""
    return await sync_to_async(functools.partial(function, *args, **kwargs), thread_sensitive=True)()


def run(main: Callable[[RunInCaller], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on an event loop in another thread, and the functions that it calls in this one.

    An interruption of this thread ends the loop at once, without waiting for what is in flight.
    """
    bridge = _Bridge(main)
    bridge.thread.start()
    try:
        bridge.serve()
    except BaseException:
        bridge.abandon()
        raise
    bridge.thread.join()
    result: T = bridge.result()
    return result


class _Bridge:
    def __init__(self, main: Callable[[RunInCaller], Coroutine[Any, Any, Any]]) -> None:
        self._main = main
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[Any] | None = None
        self._closed = threading.Event()
        self._outcome: tuple[Any, BaseException | None] = (None, None)
        # A daemon: an interrupted process must be able to end.
        self.thread = threading.Thread(target=self._run_loop, name="llm-gateway", daemon=True)

    def serve(self) -> None:
        """Run what the loop hands over, until it has ended."""
        while (item := self._work.get()) is not None:
            item()

    def abandon(self) -> None:
        """End the loop without its work being done."""
        self._closed.set()
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            self._loop.call_soon_threadsafe(lambda: self._task and self._task.cancel())
        # What it waits for here will never be run: let it go.
        self.thread.join(JOIN_SECONDS)

    def result(self) -> Any:
        value, error = self._outcome
        if error is not None:
            raise error
        return value

    async def _call(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        if self._closed.is_set():
            raise InterruptedCallError
        future: asyncio.Future[T] = self._loop.create_future()

        def item() -> None:
            try:
                value = function(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - raised where it was called
                self._tell(future, None, error)
            else:
                self._tell(future, value, None)

        self._work.put(item)
        return await future

    def _tell(self, future: asyncio.Future[Any], value: Any, error: Exception | None) -> None:
        # The loop may have ended meanwhile: whoever waited for this was cancelled.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(_settle, future, value, error)

    async def _entry(self) -> Any:
        self._task = asyncio.current_task()
        return await self._main(self._call)

    def _run_loop(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                self._outcome = (runner.run(self._entry()), None)
        except BaseException as error:  # noqa: BLE001 - raised in the thread that asked
            self._outcome = (None, error)
        finally:
            self._work.put(None)


def _settle(future: asyncio.Future[Any], value: Any, error: Exception | None) -> None:
    if future.done():  # cancelled meanwhile
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)

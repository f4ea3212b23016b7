"""Between the thread that asks and the event loop."""

import asyncio
import threading
import time

import pytest

from crowdrag.llm import event_loop


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_ends_the_loop_at_once(interruption):
    ended = []

    def interrupted():
        raise interruption

    async def main(call):
        try:
            await asyncio.gather(asyncio.sleep(60), call(interrupted))
        finally:
            ended.append(True)
            with pytest.raises(event_loop.InterruptedCallError):
                await call(ended.append, "never")

    with pytest.raises(interruption):
        event_loop.run(main)
    assert ended == [True]


def test_what_nobody_waits_for_any_more_does_no_harm():
    """A helper of the loop that is cancelled while its function runs here, and the loop ends before the function."""
    ran = []

    def slow():
        time.sleep(0.2)
        ran.append(True)

    async def main(call):
        helper = asyncio.create_task(call(slow))
        await asyncio.sleep(0.05)
        helper.cancel()
        return "done"

    assert event_loop.run(main) == "done"
    assert ran == [True]


def test_many_loops_at_once_do_not_mix():
    results = []

    def one(n):
        async def main(call):
            return [await call(lambda: (n, threading.get_ident())) for _turn in range(20)]

        results.append((threading.get_ident(), n, event_loop.run(main)))

    threads = [threading.Thread(target=one, args=[n]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(values == [(n, ident)] * 20 for ident, n, values in results)

"""What the questions of a wave want of the database, done in turns: all that is due at a time in one transaction."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from . import together
from .bridge import Call
from .claims import BoundOf
from .requests import Answer, Question
from .room import Asker
from .together import Begun, Finished

Deliver = Callable[[Question, Answer], None]
Waiting = list[tuple[Any, "asyncio.Future[Any]"]]
# While enough intents stand ahead, a turn waits so long for more to do: transactions cost more than what is in them.
GATHERED_FOR = 0.02


class Turns:
    """Begins and finishes questions; an answer is delivered as soon as it is stored, before any other is begun.

    `is_idle` says whether somebody may be waiting for this: then a turn begins at once.
    """

    def __init__(self, *, call: Call, asker: Asker, deliver: Deliver, is_idle: Callable[[], bool]) -> None:
        self._call = call
        self._asker = asker
        self._deliver = deliver
        self._is_idle = is_idle
        self._beginning: Waiting = []
        self._finishing: Waiting = []
        self._due = asyncio.Event()

    async def begin(self, question: Question, bound: BoundOf) -> Begun:
        """Take a question for asking; see `claims.begin`."""
        begun: Begun = await self._wait_in(self._beginning, (question, bound))
        return begun

    async def finish(self, question: Question, finished: Finished) -> Answer | None:
        """Book an attempt and store its answer; see `claims.finish`."""
        answer: Answer | None = await self._wait_in(self._finishing, (question, finished))
        return answer

    async def serve(self) -> None:
        """Do what is due, until cancelled."""
        while True:
            await self._due.wait()
            if not self._is_idle():
                await asyncio.sleep(GATHERED_FOR)
            self._due.clear()
            await self._turn(self._finishing, self._finish)
            await asyncio.sleep(0)  # whoever is answered now wants the next question begun in this very turn
            await self._turn(self._beginning, self._begin)

    async def _wait_in(self, waiting: Waiting, item: Any) -> Any:
        future = asyncio.get_running_loop().create_future()
        waiting.append((item, future))
        self._due.set()
        return await future

    async def _turn(self, waiting: Waiting, function: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        if not waiting:
            return
        batch = waiting.copy()
        waiting.clear()
        try:
            outcomes = await self._call(function, [item for item, _future in batch])
        except Exception as error:  # noqa: BLE001 - raised where each is waited for
            outcomes = [error] * len(batch)
        for (_item, future), outcome in zip(batch, outcomes, strict=True):
            if future.done():  # cancelled meanwhile
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _begin(self, wanted: Sequence[tuple[Question, BoundOf]]) -> Sequence[Begun | Exception]:
        begun = together.begin(wanted=wanted, asker=self._asker)
        return [self._delivered(question, one) for (question, _bound), one in zip(wanted, begun, strict=True)]

    def _finish(self, given: Sequence[tuple[Question, Finished]]) -> Sequence[Answer | Exception | None]:
        answers = together.finish(finished=[finished for _question, finished in given], asker=self._asker)
        return [self._delivered(question, one) for (question, _finished), one in zip(given, answers, strict=True)]

    def _delivered(self, question: Question, outcome: Any) -> Any:
        if isinstance(outcome, Answer):
            try:
                self._deliver(question, outcome)
            except Exception as error:  # noqa: BLE001 - it stops the wave, which raises it
                return error
        return outcome

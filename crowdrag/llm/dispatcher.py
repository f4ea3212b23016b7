"""Many questions in flight at once: a few workers on an event loop, the database in the thread that asked."""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from . import claims, ledger, retry_policy, structured_output
from . import concurrency as llm_concurrency
from .batch_claims import Deliver, FinishedAttempt, TransactionBatcher
from .claims import ClaimedCall, HeldElsewhere, StartedAttempt, Verdict
from .concurrency import CallContext, Wait
from .enums import AttemptState, Fault
from .event_loop import RunInCaller
from .models import Endpoint
from .replies import Sender, SendResult, clean
from .requests import LIMITS, Answer, Question, output_limit

Complaint = tuple[str, str] | None


class StoppedError(Exception):
    """Another part of the wave failed: what is in flight is brought home, nothing more is sent."""


class Dispatcher:
    """Brings a set of different questions to their answers; `deliver` hears each answer once it is stored.

    There are more workers than the endpoint takes calls: while its answers are stored, and further intents written,
    the next ones are sent that stand ahead. `more` gives the next questions, none where there are no more. `check` is
    called now and then, and raises where all of it is to stop.
    """

    def __init__(
        self,
        *,
        asker: CallContext,
        sender: Sender,
        deliver: Deliver,
        more: Callable[[], list[Question]],
        call: RunInCaller,
        rng: random.Random,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._check = check
        self._asker = asker
        self._policy = asker.policy
        self._sender = sender
        self._more = more
        self._call = call
        self._rng = rng
        self._ready: deque[Question] = deque()
        self._held: dict[str, Question] = {}
        self._open = 0
        self._is_all = False
        self._fetching: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._stopped = asyncio.Event()
        self._cut_off = asyncio.Event()
        self._news = asyncio.Condition()
        concurrency = asker.endpoint.concurrency
        self._ahead = llm_concurrency.prefetch_limit(concurrency)
        self._workers = concurrency + self._ahead
        self._slots = asyncio.Semaphore(concurrency)
        self._standing_ahead = 0
        self._rests_until: datetime | None = None
        self._turns = TransactionBatcher(call=call, asker=asker, deliver=deliver, is_idle=self._is_idle)

    async def run(self, questions: list[Question]) -> None:
        """Ask them all; raises the first failure that is not one question's own, once all in flight is booked."""
        self._ready.extend(questions)
        self._open = len(questions)
        helpers = [asyncio.create_task(helper) for helper in self._helpers()]
        try:
            await asyncio.gather(*(self._work() for _worker in range(self._workers)))
            if self._fetching is not None:
                await self._fetching
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
            await self._sender.aclose()
        if self._failure is not None:
            raise self._failure

    def _helpers(self) -> list[Coroutine[Any, Any, None]]:
        helpers = [self._renew(), self._watch(), self._turns.serve()]
        return helpers if self._check is None else [*helpers, self._heed(self._check)]

    async def _work(self) -> None:
        while (question := await self._next()) is not None:
            try:
                await self._see_through(question)
            except StoppedError:
                return
            except Exception as error:  # noqa: BLE001 - it stops the wave, which raises it
                await self._stop(error)

    async def _next(self) -> Question | None:
        async with self._news:
            while self._failure is None:
                if len(self._ready) < self._workers and not self._is_all and self._fetching is None:
                    self._fetching = asyncio.create_task(self._fetch())
                if self._ready:
                    return self._ready.popleft()
                if not self._open and self._is_all:
                    break
                await self._news.wait()
            return None

    async def _fetch(self) -> None:
        """Get the next questions while others are on their way."""
        try:
            questions = await self._call(self._more)
        except Exception as error:  # noqa: BLE001 - it stops the wave, which raises it
            await self._stop(error)
            return
        async with self._news:
            self._fetching = None
            self._is_all = not questions
            self._open += len(questions)
            self._ready.extend(questions)
            self._news.notify_all()

    async def _see_through(self, question: Question) -> None:
        """Ask one question until it is answered, given up, or found to be another process's."""
        first = compose(question, self._asker.endpoint, None)

        def composed(complaint: Complaint) -> tuple[dict[str, Any], ledger.TokenBound]:
            return first if complaint is None else compose(question, self._asker.endpoint, complaint)

        begun = await self._turns.begin(question, lambda complaint: composed(complaint)[1])
        if isinstance(begun, Answer):
            return await self._answered()
        if isinstance(begun, HeldElsewhere):
            return await self._set_aside(question)
        claimed, started = begun
        try:
            return await self._ask(question, claimed, started, composed)
        except BaseException:
            # Others need not wait for the lease of what we will not ask any more.
            await self._call(claims.release, claimed=claimed, asker=self._asker)
            raise

    async def _ask(
        self,
        question: Question,
        claimed: ClaimedCall,
        started: StartedAttempt | Wait | HeldElsewhere,
        composed: Callable[[Complaint], tuple[dict[str, Any], ledger.TokenBound]],
    ) -> None:
        tries = 0
        while True:
            body, bound = composed(claimed.complaint)
            started = await self._started(claimed, bound, started)
            if isinstance(started, HeldElsewhere):
                return await self._set_aside(question)
            sent = await self._send(body, started)
            if isinstance(sent, Wait):
                started = sent
                continue
            tries += 1
            verdict = self._judge(question, claimed, sent, bound, tries)
            answer = await self._turns.finish(question, FinishedAttempt(started, claimed, verdict))
            if answer is not None:
                return await self._answered()
            if verdict.settled:  # our lease had run out, and whoever has the question now has not answered it yet
                return await self._set_aside(question)
            claimed = replace(claimed, sent=started.number)
            if verdict.problem:
                reply = sent.reply.text if sent.reply else ""
                claimed = replace(claimed, asks=claimed.asks + 1, complaint=(reply or "", verdict.problem))
                tries = 0
            else:
                wait = retry_policy.delay(tries=tries, retry_after=sent.retry_after, policy=self._policy, rng=self._rng)
                await self._pause(wait)
            started = Wait(0.0)

    async def _started(
        self, claimed: ClaimedCall, bound: ledger.TokenBound, started: StartedAttempt | Wait | HeldElsewhere
    ) -> StartedAttempt | HeldElsewhere:
        """Wait until there is room, and the intent to send is on record."""
        while isinstance(started, Wait):
            if started.seconds:
                await self._pause(started.seconds * (1 + 0.2 * self._rng.random()))
            if self._stopped.is_set():
                raise StoppedError
            started = await self._call(claims.start, claimed=claimed, asker=self._asker, bound=bound)
        return started

    async def _send(self, body: dict[str, Any], started: StartedAttempt) -> SendResult | Wait:
        """Send what stands on record, as soon as it may go; where it may not any more, the intent is taken back."""
        self._standing_ahead += 1
        try:
            await self._slots.acquire()
        finally:
            self._standing_ahead -= 1
        try:
            now = self._policy.clock()
            rest = (self._rests_until - now).total_seconds() if self._rests_until is not None else 0.0
            if not self._stopped.is_set() and rest <= 0:
                sent = await self._reply(body, now)
                if sent.fault and sent.retry_after:
                    self._rest(sent.retry_after)
                return sent
        finally:
            self._slots.release()
        await self._call(claims.withdraw, started=started, asker=self._asker)
        if self._stopped.is_set():
            raise StoppedError
        return Wait(rest)

    async def _reply(self, body: dict[str, Any], now: datetime) -> SendResult:
        """Send and wait for the reply, unless it is cut off: whoever asked wants no answer any more."""
        began = time.monotonic()
        sending = asyncio.ensure_future(self._sender.send(body, now=now))
        cutting = asyncio.ensure_future(self._cut_off.wait())
        try:
            await asyncio.wait({sending, cutting}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                return sending.result()
        finally:
            sending.cancel()
            cutting.cancel()
            await asyncio.gather(sending, cutting, return_exceptions=True)
        error = _("The job was cancelled before the answer came.")
        return SendResult(AttemptState.UNKNOWN, time.monotonic() - began, fault=Fault.CUT, error=error, again=True)

    def _rest(self, seconds: float) -> None:
        """Send nothing more for so long, also of what is on record already."""
        until = self._policy.clock() + timedelta(seconds=min(seconds, self._policy.longest_wait))
        self._rests_until = max(self._rests_until or until, until)

    def _is_idle(self) -> bool:
        """Whether the endpoint may soon have nothing to do because too little stands ahead."""
        return self._standing_ahead <= self._ahead // 2

    def _judge(
        self, question: Question, claimed: ClaimedCall, sent: SendResult, bound: ledger.TokenBound, tries: int
    ) -> Verdict:
        """Say what an attempt came to: its tokens, its document, and whether the question is settled by it."""
        usage = None
        if sent.state == AttemptState.ANSWERED:
            usage = ledger.read_usage(sent.usage, most=bound, text=sent.reply.text if sent.reply else None)
        if sent.fault:
            rest = min(sent.retry_after or 0.0, self._policy.longest_wait)
            return Verdict(sent, usage, settled=not sent.again or tries >= self._policy.tries, rest=rest)
        assert sent.reply is not None
        if question.schema is None or sent.reply.refusal is not None:
            return Verdict(sent, usage)
        try:
            return Verdict(sent, usage, data=clean(structured_output.parse(sent.reply.text, question.schema)))
        except structured_output.InvalidAnswerError as error:
            return Verdict(sent, usage, problem=str(error), settled=claimed.asks + 1 >= self._policy.asks)

    async def _answered(self) -> None:
        async with self._news:
            self._open -= 1
            self._news.notify_all()

    async def _set_aside(self, question: Question) -> None:
        async with self._news:
            self._held[question.digest] = question
            self._news.notify_all()

    async def _stop(self, error: BaseException) -> None:
        async with self._news:
            self._failure = self._failure or error
            self._stopped.set()
            self._news.notify_all()

    async def _pause(self, seconds: float) -> None:
        """Sleep, unless the wave stops meanwhile."""
        sleeping = asyncio.ensure_future(self._policy.sleep(seconds))
        stopping = asyncio.ensure_future(self._stopped.wait())
        done, pending = await asyncio.wait({sleeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        if self._stopped.is_set():
            raise StoppedError
        for task in done:
            task.result()

    async def _heed(self, check: Callable[[], None]) -> None:
        """Look now and then whether the job is to stop, so that it need not wait for the next answer."""
        while True:
            await asyncio.sleep(self._policy.heed)
            try:
                await self._call(check)
            except Exception as error:  # noqa: BLE001 - it stops the wave, which raises it
                await self._stop(error)
                await asyncio.sleep(0.0 if self._asker.endpoint.is_free else self._policy.grace)
                self._cut_off.set()
                return

    async def _renew(self) -> None:
        """Renew our leases, well before they run out."""
        while True:
            await asyncio.sleep(self._policy.lease / 3)
            try:
                await self._call(claims.renew, asker=self._asker)
            except Exception as error:  # noqa: BLE001 - it stops the wave, which raises it
                return await self._stop(error)

    async def _watch(self) -> None:
        """Look after the questions that other processes hold: answered there, or free for us again."""
        while True:
            await asyncio.sleep(self._policy.poll)
            if not self._held:
                continue
            try:
                free = await self._call(claims.released_digests, digests=list(self._held), asker=self._asker)
            except Exception as error:  # noqa: BLE001 - it stops the wave, which raises it
                return await self._stop(error)
            if free:
                async with self._news:
                    self._ready.extend(self._held.pop(digest) for digest in free)
                    self._news.notify_all()


def compose(
    question: Question, endpoint: Endpoint, complaint: tuple[str, str] | None
) -> tuple[dict[str, Any], ledger.TokenBound]:
    """Return what is sent and the bound of its tokens."""
    limit = output_limit(question, endpoint)
    messages = structured_output.build_messages(question, endpoint, complaint=complaint)
    parameters = {name: value for name, value in question.parameters.items() if name not in LIMITS}
    if "seed" in parameters:
        parameters["seed"] += question.sample
    body: dict[str, Any] = {"model": endpoint.model, "messages": messages, endpoint.token_parameter: limit}
    response_format = structured_output.response_format(question, endpoint)
    if response_format is not None:
        body["response_format"] = response_format
    return body | parameters, ledger.bound_tokens(messages=messages, extra=response_format, completion=limit)

"""The exchange with one endpoint: it turns questions into stored answers, for all callers in this process at once.

Callers that use the same endpoint for the same study and purpose share one exchange: one client with its slots, one
token for claims, and one transaction for whatever is due. So a process may have many callers, each with a few
questions, and still keep the endpoint busy. A question that several of them ask is sent once.

One thread at a time leads: it alone looks up, begins, sends and settles, with its own database connection. A caller
that is alone leads while it waits. As soon as there is a second one, a thread of the exchange leads, so that no caller
has to wait for what another one does with its answers.
"""

import heapq
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from django.db import connection

from crowdrag.studies.models import Study

from . import GatewayError, addresses, attempts, replies
from .attempts import CallContext, Outcome, StartedAttempt, prefetch_limit
from .client import Client, Result
from .enums import Fault
from .models import Attempt, Endpoint
from .requests import Answer, Question
from .retry_policy import RetryPolicy

# A thread waits no longer than this before it looks again.
LONGEST_ROUND = 1.0


@dataclass(eq=False)
class Seat:
    """One caller's place in an exchange: its open questions, and what has arrived for it."""

    thread: int = field(default_factory=threading.get_ident)
    open: set[str] = field(default_factory=set)  # digests
    answers: SimpleQueue[tuple[str, Answer]] = field(default_factory=SimpleQueue)
    has_news: threading.Event = field(default_factory=threading.Event)
    to_release: set[str] = field(default_factory=set)  # digests of questions that nobody may claim any more for it
    error: Exception | None = None
    is_leaving: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no question is open, and all answers were taken."""
        return not self.open and self.answers.empty()

    def check(self) -> None:
        """Raise the error that has ended the exchange, if there is one."""
        if self.error is not None:
            raise self.error

    def take(self) -> dict[str, Answer]:
        """Return the answers that have arrived, by digest."""
        arrived: dict[str, Answer] = {}
        with suppress(Empty):
            while True:
                digest, answer = self.answers.get_nowait()
                arrived[digest] = answer
        return arrived


class Exchange:
    """Turns questions into stored answers; see the module."""

    def __init__(self, context: CallContext, resolver: addresses.Resolver) -> None:
        self._context, self._policy = context, context.policy
        slots = context.endpoint.slots
        self.capacity = slots + prefetch_limit(slots)
        self._client = Client(endpoint=context.endpoint, policy=context.policy, resolver=resolver)
        self._leadership = threading.Lock()
        # The lock of everything below; never held while the database or the endpoint is used.
        self._lock = threading.RLock()
        self._seats: set[Seat] = set()
        self._askers: dict[str, list[Seat]] = {}  # by digest: who waits for the answer, the first asker first
        self._ready: deque[Question] = deque()
        # Questions to try again, with the earliest time: they failed, or another process is sending the same.
        self._later: list[tuple[float, int, Question]] = []
        self._order = count()
        # By digest: attempts that are recorded and not yet booked; None while they are being recorded.
        self._under_way: dict[str, StartedAttempt | None] = {}
        self._failures: Counter[str] = Counter()  # by digest: failures of a question since its last answer
        self._error: Exception | None = None
        self._leader: threading.Thread | None = None
        self._begin_at = now = time.monotonic()
        self._renew_at = now + self._policy.lease / 3

    @property
    def backlog(self) -> int:
        """How many questions are open."""
        return len(self._askers)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint that answers."""
        return self._context.endpoint

    def join(self) -> Seat | None:
        """Return a seat for a caller; None if this exchange has ended or failed."""
        with self._lock:
            if self._error is not None:
                return None
            seat = Seat()
            self._seats.add(seat)
            if len(self._seats) == 1:
                self._client.__enter__()
            elif self._leader is None and len({other.thread for other in self._seats}) > 1:
                self._leader = threading.Thread(target=self._lead, name="llm-exchange", daemon=True)
                self._leader.start()
            return seat

    def leave(self, seat: Seat) -> bool:
        """Give up a seat without waiting; return whether it was the last: the exchange has then ended."""
        with self._lock:
            self._forget(seat, set(seat.open))
            self._seats.discard(seat)
            is_last = not self._seats
            if is_last and self._error is None:
                self._error = GatewayError("This exchange has ended.")
        if is_last:
            self._client.wake()
            if self._leader is not None:
                self._leader.join()
            self._client.__exit__()
        return is_last

    def submit(self, seat: Seat, questions: Sequence[Question]) -> None:
        """Ask these questions; their answers arrive at the seat."""
        with self._lock:
            for question in questions:
                askers = self._askers.setdefault(question.digest, [])
                if not askers and question.digest not in self._under_way:
                    self._ready.append(question)
                askers.append(seat)
                seat.open.add(question.digest)
        self._client.wake()

    def wait(self, seat: Seat, seconds: float) -> None:
        """Wait until something has arrived at a seat, at most so long; lead meanwhile if nobody else does."""
        seconds = min(max(seconds, 0.001), LONGEST_ROUND)
        if self._leadership.acquire(blocking=False):
            try:
                if not seat.has_news.is_set():
                    self._round(seconds)
            finally:
                self._leadership.release()
        else:
            seat.has_news.wait(seconds)
        seat.has_news.clear()

    def withdraw(self, seat: Seat) -> set[str]:
        """Send no more of a caller's questions, unless others ask them too; those in flight are still awaited.

        Returns the digests of its open questions.
        """
        with self._lock:
            seat.is_leaving = True
            digests = set(seat.open)
            self._forget(seat, seat.open - self._under_way.keys())
            unwanted = self._unwanted(seat)
        self._client.hold_back(unwanted)
        self._client.wake()
        return digests

    def cut_off(self, seat: Seat) -> None:
        """Stop waiting for those of a caller's questions that are in flight."""
        with self._lock:
            unwanted = self._unwanted(seat)
        self._client.cut_off(unwanted)

    def release(self, seat: Seat, digests: set[str]) -> None:
        """Release the claims on those of these questions that nobody asks any more."""
        seat.to_release |= digests
        self._client.wake()
        while seat.to_release:
            self.wait(seat, LONGEST_ROUND)

    def _unwanted(self, seat: Seat) -> list[StartedAttempt]:
        started = (self._under_way.get(digest) for digest in seat.open if not self._is_wanted(digest))
        return [attempt for attempt in started if attempt is not None]

    def _is_wanted(self, digest: str) -> bool:
        return any(not asker.is_leaving for asker in self._askers.get(digest, ()))

    def _forget(self, seat: Seat, digests: set[str]) -> None:
        """Take a caller off the askers of these questions, and drop those that nobody asks any more."""
        seat.open -= digests
        for digest in digests:
            self._askers[digest].remove(seat)
            if not self._askers[digest]:
                del self._askers[digest]
        if digests:
            self._ready = deque(question for question in self._ready if question.digest in self._askers)
            self._later = [entry for entry in self._later if entry[2].digest in self._askers]
            heapq.heapify(self._later)

    def _drop(self, digest: str) -> None:
        """Drop a question that only callers asked who are leaving."""
        for asker in self._askers.pop(digest, ()):
            asker.open.discard(digest)
            asker.has_news.set()

    def _lead(self) -> None:
        """Lead until there are no callers: the thread of an exchange with several."""
        try:
            while self._seats:
                with self._leadership:
                    self._round(LONGEST_ROUND)
                if self._error is not None:
                    time.sleep(self._policy.poll)  # callers are leaving; the database may be away
        finally:
            connection.close()

    def _round(self, seconds: float) -> None:
        """Do whatever is due, then wait at most so long for results; an error ends the work of all callers."""
        try:
            self._renew()
            self._release()
            self._look_up_postponed()
            self._begin()
            self._settle(self._client.results(min(seconds, self._patience())))
        except Exception as error:  # noqa: BLE001 - each caller raises it
            self._fail(error)
        except BaseException:
            self._fail(GatewayError("The thread that leads this exchange was interrupted."))
            raise

    def _fail(self, error: Exception) -> None:
        with self._lock:
            self._error = self._error or error  # the first failure is the one that is raised
            for seat in self._seats:
                seat.error = seat.error or self._error
                seat.has_news.set()

    def _renew(self) -> None:
        """Renew our leases well before they expire."""
        now = time.monotonic()
        if now >= self._renew_at:
            self._renew_at = now + self._policy.lease / 3
            attempts.renew(context=self._context)

    def _release(self) -> None:
        with self._lock:
            seats = [seat for seat in self._seats if seat.to_release]
            digests = {digest for seat in seats for digest in seat.to_release}
            digests -= self._askers.keys() | self._under_way.keys()
        try:
            if digests:
                attempts.release(context=self._context, digests=digests)
        finally:
            for seat in seats:
                seat.to_release.clear()
                seat.has_news.set()

    def _look_up_postponed(self) -> None:
        """Look up postponed questions that are due, since they may have been answered meanwhile."""
        due: dict[str, Question] = {}
        with self._lock:
            while self._later and self._later[0][0] <= time.monotonic():
                _moment, _number, question = heapq.heappop(self._later)
                due[question.digest] = question
        answers = attempts.look_up(digests=list(due)) if due else {}
        with self._lock:
            self._deliver(answers)
            self._ready.extend(
                question for digest, question in due.items() if digest not in answers and digest in self._askers
            )

    def _begin(self) -> None:
        """Record attempts for as many questions as there are free slots, and send them."""
        while time.monotonic() >= self._begin_at and self._error is None:
            with self._lock:
                room = min(self.capacity - len(self._under_way), len(self._ready))
                questions = [self._ready.popleft() for _number in range(room)]
                self._under_way.update(dict.fromkeys(question.digest for question in questions))
            if not questions:
                return
            begun = None
            try:
                begun = attempts.begin(context=self._context, questions=questions)
            finally:
                with self._lock:
                    for question in questions:
                        del self._under_way[question.digest]
                    if begun is not None:
                        self._note_begun(begun)
            self._client.send(begun.started)
            with self._lock:
                unwanted = [started for started in begun.started if not self._is_wanted(started.question.digest)]
            if unwanted:
                self._client.hold_back(unwanted)

    def _note_begun(self, begun: attempts.Begun) -> None:
        for started in begun.started:
            self._under_way[started.question.digest] = started
        for question in reversed(begun.unstarted):
            if self._is_wanted(question.digest):
                self._ready.appendleft(question)
            else:
                self._drop(question.digest)
        for question in begun.held:
            self._put_off(question, self._policy.poll)
        if begun.unstarted:
            self._begin_at = time.monotonic() + begun.wait * (1 + 0.2 * random.random())
        self._deliver(begun.answers)

    def _settle(self, results: list[Result]) -> None:
        """Book results, deliver the answers, and queue the rest for another attempt."""
        if not results:
            return
        unsent = [started for started, outcome in results if outcome is None]
        finished = [(started, self._judge(started, outcome)) for started, outcome in results if outcome is not None]
        answers: dict[Attempt, Answer] = {}
        rest = self._client.rest_seconds()
        try:
            if unsent:
                attempts.withdraw(context=self._context, attempts=unsent)
            if finished:
                answers = attempts.finish(context=self._context, finished=finished, rest=rest)
        finally:
            with self._lock:
                for started, _outcome in results:
                    del self._under_way[started.question.digest]
                for started in reversed(unsent):
                    self._ask_again(started.question, None)
                for started, outcome in finished:
                    if started.attempt not in answers:
                        # What one server asks for does not keep a question from another one that is free.
                        self._ask_again(started.question, outcome if rest else replace(outcome, retry_after=None))
                digests = {started.attempt: started.question.digest for started, _outcome in finished}
                self._deliver({digests[attempt]: answer for attempt, answer in answers.items()})
        rests_until = time.monotonic() + rest
        self._begin_at = rests_until if unsent else min(self._begin_at, rests_until)

    def _judge(self, started: StartedAttempt, outcome: Outcome) -> Outcome:
        failures = self._failures[started.question.digest]
        return replies.judge(started, outcome, failures=failures, policy=self._policy)

    def _ask_again(self, question: Question, outcome: Outcome | None) -> None:
        """Queue a question for another attempt, after this outcome; None: it was not sent."""
        if not self._is_wanted(question.digest):
            self._drop(question.digest)
        elif outcome is None:
            self._ready.appendleft(question)
        elif outcome.is_settled:  # our lease had expired; its new holder has not answered yet
            self._put_off(question, self._policy.poll)
        elif outcome.fault == Fault.INVALID:
            del self._failures[question.digest]
            self._ready.append(question)
        else:
            self._failures[question.digest] += 1
            failures = self._failures[question.digest]
            self._put_off(question, self._policy.delay(failures=failures, retry_after=outcome.retry_after))

    def _put_off(self, question: Question, seconds: float) -> None:
        if self._is_wanted(question.digest):
            heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), question))
        else:
            self._drop(question.digest)

    def _deliver(self, answers: dict[str, Answer]) -> None:
        """Let stored answers arrive at the seats of all who asked; only the first of them had them sent."""
        for digest, answer in answers.items():
            self._failures.pop(digest, None)
            for number, asker in enumerate(self._askers.pop(digest, ())):
                # In this order: a caller without open questions must find all of its answers.
                asker.answers.put((digest, answer if number == 0 else as_stored(answer)))
                asker.open.discard(digest)
                asker.has_news.set()

    def _patience(self) -> float:
        """Return the seconds until there is something to do, unless a reply arrives."""
        with self._lock:
            moments = [self._renew_at]
            if self._later:
                moments.append(self._later[0][0])
            if self._ready and len(self._under_way) < self.capacity and self._error is None:
                moments.append(self._begin_at)
        return min(moments) - time.monotonic()


def as_stored(answer: Answer) -> Answer:
    """Return an answer as one from the store: somebody else had it sent."""
    return replace(answer, cached=True)


Key = tuple[Any, ...]
_exchanges: dict[Key, Exchange] = {}
_registry_lock = threading.Lock()


def join(
    *, endpoint: Endpoint, study: Study | None, purpose: str, policy: RetryPolicy, resolver: addresses.Resolver
) -> tuple[Exchange, Seat]:
    """Join this process's exchange for an endpoint as it is now, a study and a purpose; the caller leaves it."""
    columns = [field.attname for field in endpoint._meta.concrete_fields if field.name != "paused_until"]
    settings = tuple(getattr(endpoint, column) for column in columns)
    key = (settings, study.pk if study is not None else None, purpose, policy, resolver)
    with _registry_lock:
        exchange = _exchanges.get(key)
        seat = exchange.join() if exchange is not None else None
        if exchange is None or seat is None:
            exchange = Exchange(CallContext(uuid4(), endpoint, study, purpose, policy), resolver)
            seat = exchange.join()
            _exchanges[key] = exchange
    assert seat is not None
    return exchange, seat


def leave(exchange: Exchange, seat: Seat) -> None:
    """Give up a seat, without waiting for what is in flight; the last caller closes the exchange."""
    if exchange.leave(seat):
        with _registry_lock:
            for key in [key for key, other in _exchanges.items() if other is exchange]:
                del _exchanges[key]


def has_room(endpoint_name: str) -> bool:
    """Return whether fewer questions to an endpoint are open in this process than are sent and recorded ahead."""
    with _registry_lock:
        exchanges = [exchange for exchange in _exchanges.values() if exchange.endpoint.name == endpoint_name]
        return not exchanges or sum(one.backlog for one in exchanges) < max(one.capacity for one in exchanges)

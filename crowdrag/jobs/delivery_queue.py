"""A queue of rows that are sent or handled once: lease, retry with backoff, give up.

Examples are webhook deliveries, actions on a recruitment platform, and events received from it. One worker at a time
has a row: it is taken with `SKIP LOCKED`, and every write names the attempt, so that a worker that was away for longer
than the lease writes nothing. A row whose worker died is taken again when its lease expires.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from django.db import IntegrityError, models, transaction
from django.db.models import Q, QuerySet

from crowdrag.clocks import CLOCK_DIFFERENCE

WAITING: Final = "WAITING"
SENDING: Final = "SENDING"


@dataclass(frozen=True)
class Backoff:
    """The wait after the first try, the second, and so on; the last try follows the last wait."""

    waits: tuple[timedelta, ...]

    @classmethod
    def exponential(cls, first: timedelta, longest: timedelta, *, tries: int, factor: int = 2) -> Self:
        """Return waits that grow by a factor up to the longest one, for this many tries in all."""
        waits = accumulate(range(tries - 2), lambda wait, _: min(wait * factor, longest), initial=min(first, longest))
        return cls(tuple(waits)[: tries - 1])

    def after(self, tries: int) -> timedelta | None:
        """Return the wait after this many tries (at least one); None if that was the last one."""
        return self.waits[tries - 1] if tries <= len(self.waits) else None


class QueuedRow(models.Model):
    """One row of a queue; the subclass has a `state`, which is `WAITING`, `SENDING`, or a final state."""

    state: Any
    STATES_DUE: ClassVar[tuple[str, ...]] = (WAITING,)

    tries = models.PositiveSmallIntegerField("attempts", default=0)
    # Incremented with each claim of the row and never reset: the holder of an older number writes nothing.
    attempt = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(state=SENDING, lease_until__isnull=False)
                | (~Q(state=SENDING) & Q(lease_until__isnull=True)),
                name="%(class)s_sending_has_a_lease",
            ),
        ]


Row = TypeVar("Row", bound=QueuedRow)


@dataclass(frozen=True)
class DeliveryQueue(Generic[Row]):
    """The rows of one model.

    Attributes
    ----------
    lease
        longer than one try may take.
    related
        relations read together with a claimed row.
    where
        a condition on the row, both when it is chosen and when it is claimed.
    is_ready
        a condition when the row is chosen: no other row must come first.
    order
        the order of due rows.
    on_conflict
        handles a row that a constraint rejects, since another one was claimed at the same moment.
    """

    model: type[Row]
    lease: timedelta
    related: tuple[str, ...] = ()
    where: Q = Q()  # noqa: RUF009 -- never changed
    is_ready: Callable[[datetime], Any] = lambda _now: Q()
    order: tuple[str, ...] = ("due_at", "pk")
    on_conflict: Callable[[int, datetime], None] = lambda _pk, _now: None

    def due(self, now: datetime) -> QuerySet[Row]:
        """Return the rows that may be claimed now."""
        return self.model._default_manager.filter(self._is_due(now), self.is_ready(now))

    def claim(self, now: datetime, *, passed: Collection[int] = ()) -> Row | None:
        """Claim a due row other than the passed ones, so that nobody else has it; None if there is none.

        The row is returned as read under the lock, and not read again: by then it may belong to somebody else.
        """
        tried = set(passed)
        while (pk := self._next(now, tried)) is not None:
            tried.add(pk)  # if somebody else claims it at this moment, it is theirs; nobody waits for it
            try:
                with transaction.atomic():
                    locked = self.model._default_manager.select_for_update(skip_locked=True, no_key=True, of=("self",))
                    row = locked.select_related(*self.related).filter(self._is_due(now), pk=pk).first()
                    if row is None:
                        continue
                    row.state, row.lease_until = SENDING, now + self.lease
                    row.tries += 1
                    row.attempt += 1
                    row.save(update_fields=["state", "lease_until", "tries", "attempt"])
            except IntegrityError:
                self.on_conflict(pk, now)
                continue
            return row
        return None

    def held(self, row: Row) -> QuerySet[Row]:
        """Return the row, if this attempt still holds it; every write goes through here."""
        return self.model._default_manager.filter(pk=row.pk, state=SENDING, attempt=row.attempt)

    def settle(self, row: Row, **fields: Any) -> bool:
        """Record the result of a try, and release the row; return whether it was still held."""
        return bool(self.held(row).update(**{"lease_until": None, **fields}))

    def put_back(self, row: Row, **fields: Any) -> bool:
        """Release a row as if it had not been tried, since the row is not at fault."""
        return self.settle(row, **{"state": WAITING, "tries": max(row.tries - 1, 0), **fields})

    def _is_due(self, now: datetime) -> Q:
        waiting = Q(state__in=self.model.STATES_DUE, due_at__lte=now)
        # A lease that ends later than a new one would was given before the clock was set back.
        is_over = Q(lease_until__lte=now) | Q(lease_until__gt=now + self.lease + CLOCK_DIFFERENCE)
        return (waiting | (Q(state=SENDING) & is_over)) & self.where

    def _next(self, now: datetime, tried: set[int]) -> int | None:
        rows = self.due(now).exclude(pk__in=tried).order_by(*self.order)
        pk: int | None = rows.values_list("pk", flat=True).first()
        return pk

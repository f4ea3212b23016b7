"""Review locks: while one reviewer has an item open, no other reviewer decides about it.

A lock lasts some minutes and is renewed while the item is open. The database decides who gets it: of two simultaneous
requests one succeeds. The model has `reviewer`, `reviewing_until`, `state` and `submitted_at`. Text that a reviewer
typed must not be lost when another one takes the work over: `typed_texts`, `resent_fields`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from django import forms
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.http import QueryDict

from crowdrag.studies.models import User

Work = TypeVar("Work", bound=models.Model)
LOCK_TIME: Final = timedelta(minutes=10)
# Rows examined together.
BATCH_SIZE: Final = 20
# Fields of an unlocked row: a decision releases the lock in the same statement.
RELEASED: Final = {"reviewer": None, "reviewing_until": None}


def is_unlocked(now: datetime) -> Q:
    """Match rows that nobody has open."""
    return Q(reviewer__isnull=True) | Q(reviewing_until__isnull=True) | Q(reviewing_until__lte=now)


def is_locked(row: Any, now: datetime) -> bool:
    """Return whether somebody has it open."""
    return row.reviewer_id is not None and row.reviewing_until is not None and row.reviewing_until > now


def locked_by_another(row: Any, by: User, now: datetime) -> bool:
    """Return whether another reviewer has it open."""
    return is_locked(row, now) and row.reviewer_id != by.pk


@dataclass(frozen=True)
class ReviewLock(Generic[Work]):
    """Review locks on the rows of one model in some states."""

    model: type[Work]
    states: frozenset[str]

    def hold(self, row: Work, by: User, now: datetime) -> bool:
        """Lock a row for review, or renew the lock; return whether this reviewer has it now."""
        return self._claim(row, Q(reviewer=by) | is_unlocked(now), by, now)

    def take_over(self, row: Work, by: User, now: datetime) -> bool:
        """Take a row from the reviewer who has it open; return whether it still awaits a decision."""
        return self._claim(row, Q(), by, now)

    def let_go(self, row: Work, by: User) -> None:
        """Release a row for others."""
        rows = self._rows().filter(pk=row.pk, reviewer=by, state__in=self.states)
        rows.update(**RELEASED)

    @transaction.atomic
    def take(self, row: Work, by: User, now: datetime) -> bool:
        """Lock a row that nobody else is locking at this moment."""
        held = self._rows().select_for_update(skip_locked=True, no_key=True).filter(pk=row.pk).first()
        return held is not None and self._claim(row, is_unlocked(now), by, now)

    def take_next(
        self,
        rows: QuerySet[Work],
        by: User,
        now: datetime,
        *,
        after: Work | None = None,
        fits: Callable[[Sequence[Work]], Sequence[Work]] = lambda rows: rows,
    ) -> Work | None:
        """Lock the row that the reviewer already has open, else the first submitted one that is unlocked and fits.

        `after` is the row that they just skipped; the search continues behind it and finally starts again at the
        beginning.
        """
        rows = rows.filter(state__in=self.states).order_by("submitted_at", "id")
        if after is None:
            held = rows.filter(reviewer=by, reviewing_until__gt=now).first()
            if held is not None and self.hold(held, by, now):
                return held
        waiting, behind = rows.filter(is_unlocked(now)), Q()
        handed_in = getattr(after, "submitted_at", None)
        if after is not None and handed_in is not None:
            waiting = waiting.exclude(pk=after.pk)
            behind = Q(submitted_at__gt=handed_in) | Q(submitted_at=handed_in, pk__gt=after.pk)
        for part in (waiting.filter(behind), waiting.exclude(behind)) if behind else (waiting,):
            for row in _in_batches(part, fits):
                if self.take(row, by, now):
                    return row
        return None

    def _claim(self, row: Work, condition: Q, by: User, now: datetime) -> bool:
        rows = self._rows().filter(condition, pk=row.pk, state__in=self.states)
        if not rows.update(reviewer=by, reviewing_until=now + LOCK_TIME):
            return False
        row.reviewer, row.reviewing_until = by, now + LOCK_TIME  # type: ignore[attr-defined]
        return True

    def _rows(self) -> QuerySet[Work]:
        return self.model._default_manager.all()


def _in_batches(rows: QuerySet[Work], fits: Callable[[Sequence[Work]], Sequence[Work]]) -> Iterator[Work]:
    """Yield rows in order, in small batches: another reviewer may lock one meanwhile."""
    seen: list[int] = []
    while batch := list(rows.exclude(pk__in=seen)[:BATCH_SIZE]):
        seen += [row.pk for row in batch]
        yield from fits(batch)


def typed_texts(form: forms.Form | None) -> list[tuple[str, str]]:
    """Return the texts typed into a rejected form, with their labels, so that they are not lost."""
    if form is None or not form.is_bound:
        return []
    texts = [field for field in form if isinstance(field.field.widget, forms.Textarea)]
    return [(str(field.label), str(field.value())) for field in texts if field.value()]


def resent_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return all fields of a form, to be sent again with another form."""
    return [
        (name, value) for name in data if name not in {"csrfmiddlewaretoken", "over"} for value in data.getlist(name)
    ]

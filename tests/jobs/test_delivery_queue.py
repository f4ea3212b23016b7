"""Rows that are sent once in effect: what holds of any queue, whatever is sent."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdrag.jobs.delivery_queue import Backoff
from crowdrag.recruitment import webhooks
from crowdrag.recruitment.enums import EventState
from crowdrag.recruitment.models import PlatformEvent
from tests.factories import NOW

QUEUE = webhooks.QUEUE
MINUTE = timedelta(minutes=1)


def event(name: str, *, due: timedelta = timedelta(0)) -> PlatformEvent:
    return PlatformEvent.objects.create(
        event_id=name, kind="x", resource_id="x", sent_at=NOW, received_at=NOW, due_at=NOW + due
    )


@given(first=st.integers(1, 600), longest=st.integers(1, 100_000), tries=st.integers(1, 40), factor=st.integers(1, 10))
def test_waits_grow_up_to_the_longest_and_the_last_try_waits_for_nothing(
    first: int, longest: int, tries: int, factor: int
) -> None:
    backoff = Backoff.exponential(timedelta(seconds=first), timedelta(seconds=longest), tries=tries, factor=factor)
    waits = [backoff.after(number) for number in range(1, tries)]
    known = [wait for wait in waits if wait is not None]
    assert len(known) == tries - 1
    assert known == sorted(known)
    assert all(wait <= timedelta(seconds=longest) for wait in known)
    assert backoff.after(tries) is None


@pytest.mark.django_db
def test_what_is_due_is_taken_once_and_again_when_the_lease_is_over() -> None:
    row, later = event("a"), event("b", due=MINUTE)
    held = QUEUE.claim(NOW)
    assert held is not None
    assert (held.pk, held.tries, held.attempt, held.state) == (row.pk, 1, 1, EventState.SENDING)
    assert QUEUE.claim(NOW) is None
    again = QUEUE.claim(NOW + QUEUE.lease)
    assert again is not None
    assert (again.pk, again.attempt) == (row.pk, 2)
    # Whoever was away for longer than the lease writes nothing.
    assert not QUEUE.settle(held, state=EventState.WAITING)
    assert QUEUE.put_back(again)
    again.refresh_from_db()
    assert (again.state, again.tries, again.attempt, again.lease_until) == (EventState.WAITING, 1, 2, None)
    other = QUEUE.claim(NOW + QUEUE.lease, passed={row.pk})
    assert other is not None
    assert other.pk == later.pk

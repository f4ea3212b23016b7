"""How many may be on their way to an endpoint at once, counted over all processes in the attempts themselves."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from crowdrag.studies.models import Study

from .enums import AttemptState
from .errors import GatewayError
from .models import Endpoint
from .retry_policy import RetryPolicy

FREE_SLOTS_SQL = """
    SELECT is_allowed, resting_until, concurrency, (
        SELECT count(*) FROM llm_attempt a JOIN llm_call c ON c.id = a.call_id
        WHERE a.endpoint_id = e.id AND a.state = %s AND c.claimed_until >= %s
    ), EXISTS (
        SELECT FROM llm_call c WHERE c.claimed_by <> %s AND c.claimed_until >= %s AND c.endpoint_id = e.id
    ) FROM llm_endpoint e WHERE id = %s
"""
SERIALISE_SQL = "SELECT pg_advisory_xact_lock(hashtext('crowdrag.llm.room'), %s)"


class EndpointNotAllowedError(GatewayError):
    """An endpoint that the operator does not allow to be asked."""


@dataclass(frozen=True)
class CallContext:
    """Who asks: one call of the gateway, known by its token."""

    token: UUID
    endpoint: Endpoint
    study: Study | None
    purpose: str
    policy: RetryPolicy


@dataclass(frozen=True)
class Wait:
    """Not now: the endpoint is full or resting, or the budget is held for calls in flight."""

    seconds: float


def prefetch_limit(concurrency: int) -> int:
    """Return how many intents are written ahead of the sending, so that the endpoint need not wait for the database.

    Half of what it takes at once: so many answers come in half the time that one takes, and that long may a busy disk
    keep the database. More would be charged for nothing when a process is killed.
    """
    return concurrency // 2


def serialise_claims(asker: CallContext) -> None:
    """Let those that write many intents at once to one endpoint do so one after another, until the transaction ends.

    So each counts what the other has written. A lock by name and not of the row: others write that with calls locked.
    """
    with connection.cursor() as cursor:
        cursor.execute(SERIALISE_SQL, [asker.endpoint.pk])


def free_slots(asker: CallContext, now: datetime) -> Wait | int:
    """Say for how many intents there is room (at least one), or what to wait for.

    The endpoint may rest, or be as busy as it may be with the calls of all processes. While nobody else asks it, some
    intents may stand ahead: the wave sends no more at once than it may. With others about, each intent counts as sent.
    """
    with connection.cursor() as cursor:
        cursor.execute(FREE_SLOTS_SQL, [AttemptState.INTENDED, now, asker.token, now, asker.endpoint.pk])
        row = cursor.fetchone()
    if row is None or not (row[0] or asker.study is None):
        raise EndpointNotAllowedError(
            _("The endpoint “%s” is not allowed (any more). An operator can allow it.") % asker.endpoint
        )
    _allowed, resting_until, concurrency, in_flight, shared = row
    if resting_until is not None and resting_until > now:
        return Wait((resting_until - now).total_seconds())
    alone = not shared and concurrency == asker.endpoint.concurrency
    left: int = concurrency + (prefetch_limit(concurrency) if alone else 0) - in_flight
    return left if left > 0 else Wait(asker.policy.poll)

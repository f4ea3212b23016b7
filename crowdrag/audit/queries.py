"""Read the audit log and failed sign-ins: filter, export, find expired rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from django.db.models import Count, Max, Q
from django.utils import timezone

from crowdrag.accounts.models import SignInFailure

from .models import AccessLogEntry

# More rows are too many for a spreadsheet: narrow the period.
MAX_EXPORTED: Final = 50_000
ACCESS_COLUMNS: Final = ("at", "user", "study", "what", "page", "participant", "key")
FAILURE_COLUMNS: Final = ("at", "user", "account", "from", "refused")


@dataclass(frozen=True)
class AuditFilter:
    """Which accesses: by whom, in which study, to what, about whom, and when (both days included, reader's zone)."""

    by: int | None = None
    study: str = ""
    what: str = ""
    participant: str = ""
    since: date | None = None
    until: date | None = None


def accesses(filters: AuditFilter) -> Any:
    """Return the matching accesses, newest first."""
    entries = AccessLogEntry.objects.filter(_within(filters)).select_related("by", "participant")
    if filters.by is not None:
        entries = entries.filter(by_id=filters.by)
    if filters.study:
        entries = entries.filter(study_slug=filters.study)
    if filters.what:
        entries = entries.filter(content=filters.what)
    if filters.participant:
        entries = entries.filter(participant__external_id=filters.participant)
    return entries.newest_first()


def export_accesses(filters: AuditFilter) -> Iterator[tuple[Any, ...]]:
    """Yield the matching accesses as rows of a table, at most `MAX_EXPORTED`."""
    for entry in accesses(filters)[:MAX_EXPORTED].iterator(chunk_size=2000):
        person = entry.participant.external_id if entry.participant else None
        yield entry.at.isoformat(), entry.by.email, entry.study_slug, entry.content, entry.page, person, entry.work_key


def sign_in_failures(filters: AuditFilter) -> Any:
    """Return the failed sign-ins, newest first."""
    failures = SignInFailure.objects.filter(_within(filters)).select_related("user").order_by("-at", "-id")
    return failures.filter(user_id=filters.by) if filters.by is not None else failures


def export_failures(filters: AuditFilter) -> Iterator[tuple[Any, ...]]:
    """Yield failures as rows of a table; of the typed account there is only a hash."""
    for each in sign_in_failures(filters)[:MAX_EXPORTED].iterator(chunk_size=2000):
        yield (
            each.at.isoformat(),
            each.user.email if each.user else None,
            each.account_hash[:12],
            each.address,
            each.was_refused,
        )


def busiest_addresses(*, now: datetime, within: timedelta = timedelta(days=1)) -> list[dict[str, Any]]:
    """Return the addresses with the most recent failures: their number, the accounts, and the refusals."""
    rows = SignInFailure.objects.filter(at__gte=now - within).order_by().values("address")
    counted: Any = rows.annotate(
        n=Count("pk", filter=Q(was_refused=False)),
        accounts=Count("account_hash", distinct=True),
        refused=Count("pk", filter=Q(was_refused=True)),
        latest=Max("at"),
    )
    return list(counted.order_by("-n", "-latest")[:20])


def _within(filters: AuditFilter) -> Q:
    """Return the condition that a time is between the start of one day and the end of another."""
    zone, condition = timezone.get_current_timezone(), Q()
    if filters.since:
        condition &= Q(at__gte=datetime.combine(filters.since, time.min, zone))
    if filters.until:
        condition &= Q(at__lte=datetime.combine(filters.until, time.max, zone))
    return condition


def expired_accesses(*, now: datetime, keep: timedelta) -> Any:
    """Return accesses whose retention period is over; the database allows no deletion within a year."""
    return AccessLogEntry.objects.filter(at__lt=now - max(keep, timedelta(days=366)))

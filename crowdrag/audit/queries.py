"""The audit log and failed sign-ins as they are looked through: filtered, to take along, and what has expired."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from django.db.models import Count, Max, Q
from django.utils import timezone

from crowdrag.accounts.models import SignInFailure

from .models import AccessLogEntry

# More rows than this are no table for a spreadsheet: narrow the time.
MAX_EXPORTED: Final = 50_000
ACCESS_COLUMNS: Final = ("at", "user", "study", "what", "page", "participant", "key")
FAILURE_COLUMNS: Final = ("at", "user", "account", "from", "refused")


@dataclass(frozen=True)
class AuditFilter:
    """Which looks: by whom, in which study, at what, at whom, and when (both days included, in the reader's zone)."""

    by: int | None = None
    study: str = ""
    what: str = ""
    participant: str = ""
    since: date | None = None
    until: date | None = None


def accesses(wanted: AuditFilter) -> Any:
    """Return the looks that are wanted, newest first."""
    found = AccessLogEntry.objects.filter(_within(wanted)).select_related("by", "participant")
    if wanted.by is not None:
        found = found.filter(by_id=wanted.by)
    if wanted.study:
        found = found.filter(study_slug=wanted.study)
    if wanted.what:
        found = found.filter(content=wanted.what)
    if wanted.participant:
        found = found.filter(participant__external_id=wanted.participant)
    return found.newest_first()


def export_accesses(wanted: AuditFilter) -> Iterator[tuple[Any, ...]]:
    """Yield the looks that are wanted as rows of a table, at most `MOST_EXPORTED`."""
    for entry in accesses(wanted)[:MAX_EXPORTED].iterator(chunk_size=2000):
        person = entry.participant.external_id if entry.participant else None
        yield entry.at.isoformat(), entry.by.email, entry.study_slug, entry.content, entry.page, person, entry.work_key


def sign_in_failures(wanted: AuditFilter) -> Any:
    """Return the sign-ins that failed, newest first."""
    found = SignInFailure.objects.filter(_within(wanted)).select_related("user").order_by("-at", "-id")
    return found.filter(user_id=wanted.by) if wanted.by is not None else found


def export_failures(wanted: AuditFilter) -> Iterator[tuple[Any, ...]]:
    """Yield failures as rows of a table; of what was typed there is a hash alone."""
    for each in sign_in_failures(wanted)[:MAX_EXPORTED].iterator(chunk_size=2000):
        yield (
            each.at.isoformat(),
            each.user.email if each.user else None,
            each.account_hash[:12],
            each.address,
            each.was_refused,
        )


def busiest_addresses(*, now: datetime, within: timedelta = timedelta(days=1)) -> list[dict[str, Any]]:
    """Return the addresses from which most failed lately: how often, at how many accounts, how often refused."""
    rows = SignInFailure.objects.filter(at__gte=now - within).order_by().values("address")
    counted: Any = rows.annotate(
        n=Count("pk", filter=Q(was_refused=False)),
        accounts=Count("account_hash", distinct=True),
        refused=Count("pk", filter=Q(was_refused=True)),
        latest=Max("at"),
    )
    return list(counted.order_by("-n", "-latest")[:20])


def _within(wanted: AuditFilter) -> Q:
    """Return the condition that something was between the beginning of a day and the end of another."""
    zone, found = timezone.get_current_timezone(), Q()
    if wanted.since:
        found &= Q(at__gte=datetime.combine(wanted.since, time.min, zone))
    if wanted.until:
        found &= Q(at__lte=datetime.combine(wanted.until, time.max, zone))
    return found


def expired_accesses(*, now: datetime, keep: timedelta) -> Any:
    """Return the looks that are older than they are kept; the database lets none go before a year."""
    return AccessLogEntry.objects.filter(at__lt=now - max(keep, timedelta(days=366)))

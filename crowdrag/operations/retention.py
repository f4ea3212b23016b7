"""Retention: preview what would be removed, remove it, and record the removal.

The rehearsal of an erasure is the erasure itself, in a transaction that is rolled back: so it reports exactly what
would happen, whichever apps take part in it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.db import OperationalError, connection, transaction
from django.db.models import Count, Max, Min, Q
from django.utils.functional import Promise

from crowdrag.accounts import login_limits
from crowdrag.accounts.models import SignInFailure
from crowdrag.audit import queries
from crowdrag.jobs.enums import ACTIVE
from crowdrag.jobs.models import Upload
from crowdrag.studies.enums import PEOPLE
from crowdrag.studies.models import Participant, Study, User
from crowdrag.studies.participants import withdrawal
from crowdrag.webhooks import outbox
from crowdrag.webhooks.models import Message

from .models import Machine, Removal

LOOKS_KEPT: Final = timedelta(days=3 * 365)
MACHINES_KEPT: Final = timedelta(days=30)
UPLOADS_KEPT: Final = timedelta(days=365)
REMOVALS_SHOWN: Final = 20


class UnknownRuleError(LookupError):
    """An unknown rule."""


@dataclass(frozen=True)
class RetentionRule:
    """What is removed: rows whose retention period is over; `when` is the field with the start of the period."""

    name: str
    title: str | Promise
    says: str | Promise
    rows: Callable[[datetime], Any]
    when: str
    # The field with the name of a stored file, which is removed too.
    file: str = ""


@dataclass(frozen=True)
class RemovalPreview:
    """What a rule would remove at a given time."""

    rule: RetentionRule
    rows: int
    oldest: datetime | None


RULES: Final = (
    RetentionRule(
        "sessions",
        "Expired sessions",
        "No one is signed in with them.",
        lambda now: Session.objects.filter(expire_date__lt=now),
        "expire_date",
    ),
    RetentionRule(
        "failures",
        "Failed sign-ins",
        "Kept for 90 days. The sweep removes them automatically every day.",
        lambda now: SignInFailure.objects.filter(at__lt=now - login_limits.RETENTION),
        "at",
    ),
    RetentionRule(
        "looks",
        "Access log",
        "Kept for three years. In the first year, the database does not allow any deletion.",
        lambda now: queries.expired_accesses(now=now, keep=LOOKS_KEPT),
        "at",
    ),
    RetentionRule(
        "machines",
        "Inactive machines",
        "No report for 30 days.",
        lambda now: Machine.objects.filter(at__lt=now - MACHINES_KEPT),
        "at",
    ),
    RetentionRule(
        "uploads",
        "Uploaded files",
        "Kept for one year, or longer while a run of their study is active.",
        lambda now: Upload.objects.filter(uploaded_at__lt=now - UPLOADS_KEPT).exclude(study__runs__state__in=ACTIVE),
        "uploaded_at",
        file="file",
    ),
    RetentionRule(
        "messages",
        "Webhook messages",
        "Kept for 30 days with their deliveries. The sweep removes them automatically.",
        lambda now: Message.objects.filter(created_at__lt=now - outbox.KEPT_FOR),
        "created_at",
    ),
)


def preview_rules(*, now: datetime) -> list[RemovalPreview]:
    """Return what each rule would remove now; nothing is removed."""
    previews = []
    for rule in RULES:
        rows = rule.rows(now)
        previews.append(RemovalPreview(rule, rows.count(), rows.aggregate(oldest=Min(rule.when))["oldest"]))
    return previews


@transaction.atomic
def remove_by_rule(*, name: str, until: datetime, by: User, now: datetime) -> Removal:
    """Remove what the preview of a rule at the time `until` showed, and record it.

    Raises
    ------
    UnknownRuleError
        for an unknown name.
    """
    rule = next((rule for rule in RULES if rule.name == name), None)
    if rule is None:
        raise UnknownRuleError(name)
    rows = rule.rows(min(until, now))
    if rule.file:
        # Exactly those rows: a file that is still listed must still exist.
        chosen = dict(rows.values_list("pk", rule.file))
        rows = rows.model.objects.filter(pk__in=chosen)
        for name in chosen.values():
            transaction.on_commit(partial(default_storage.delete, str(name)))
    _total, by_table = rows.delete()
    return Removal.objects.create(at=now, by=by, rule=rule.name, rows=by_table)


DELETION_RULE: Final = "study deleted"


def record_deletion(study: Study, rows: dict[str, int], now: datetime) -> None:
    """Record that a study was deleted, by whom, and how many rows were removed last."""
    if study.deletion_requested_by is not None:
        by = study.deletion_requested_by
        Removal.objects.create(at=now, by=by, rule=DELETION_RULE, study_slug=study.slug, rows=rows)


def latest_removals() -> list[Removal]:
    """Return the latest removals."""
    return list(Removal.objects.select_related("by").order_by("-at", "-id")[:REMOVALS_SHOWN])


def study_promises() -> list[dict[str, Any]]:
    """Return each study's promise to its participants, their number, and when the last of them came."""
    participants = Participant.objects.of_kind("CROWD", "EXPERT").filter(study__isnull=False).order_by()
    counted = participants.values("study").annotate(
        people=Count("pk", filter=Q(erased_at__isnull=True)),
        withdrawn=Count("pk", filter=Q(withdrawn_at__isnull=False, erased_at__isnull=True)),
        erased=Count("pk", filter=Q(erased_at__isnull=False)),
        latest=Max("created_at"),
    )
    rows = {row["study"]: row for row in counted}
    studies = Study.objects.filter(pk__in=rows).order_by("slug")
    return [{**rows[study.pk], "study": study} for study in studies]


ERASURE_RULE: Final = "erasure"
# A rehearsal neither waits nor blocks others for long.
REHEARSAL_LIMITS: Final = "SET LOCAL lock_timeout = '3s'; SET LOCAL statement_timeout = '60s'"
_TOUCHED: Final = """
    SELECT relname, n_tup_del, n_tup_upd, n_tup_ins FROM pg_stat_xact_user_tables
    WHERE n_tup_del + n_tup_upd + n_tup_ins > 0
"""
ErasureEffect = dict[str, dict[str, int]]


class ErasureBusyError(Exception):
    """The data to be erased are in use: try again in a moment."""


def find_person(*, study: str, pseudonym: str) -> Participant | None:
    """Return the participant of a study by pseudonym."""
    people = Participant.objects.of_kind(*PEOPLE).select_related("study")
    return people.filter(study__slug=study, external_id=pseudonym).first()


def rehearse_erasure(*, participant: Participant, now: datetime) -> ErasureEffect:
    """Return how many rows of each table an erasure would delete, change and add; everything is rolled back.

    Raises
    ------
    ErasureBusyError
        if it would have to wait.
    """
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(REHEARSAL_LIMITS)
            before = _touched_rows()
            withdrawal.erase(participant=participant, now=now)
            effect = _difference(before, _touched_rows())
            transaction.set_rollback(True)
    except OperationalError as error:
        raise ErasureBusyError from error
    return effect


@transaction.atomic
def erase_person(*, participant: Participant, by: User, now: datetime) -> Removal:
    """Erase a participant's data, and record by whom, in which study and how many rows, but not whose."""
    before = _touched_rows()
    withdrawal.erase(participant=participant, now=now)
    effect = _difference(before, _touched_rows())
    rows = {table: counts["deleted"] for table, counts in effect.items() if counts["deleted"]}
    return Removal.objects.create(at=now, by=by, rule=ERASURE_RULE, study_slug=participant.study.slug, rows=rows)


def _touched_rows() -> dict[str, Counter[str]]:
    """Return the changes of this transaction to each table, as counted by the database."""
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHED)
        return {name: Counter(deleted=d, changed=u, added=i) for name, d, u, i in cursor.fetchall()}


def _difference(before: dict[str, Counter[str]], after: dict[str, Counter[str]]) -> ErasureEffect:
    differences = {}
    for table in sorted(after):
        counts = {name: count - before.get(table, Counter())[name] for name, count in after[table].items()}
        if any(counts.values()):
            differences[table] = counts
    return differences

"""Erasing what somebody gave when they ask the operator for it: first what it would do, then doing it.

The rehearsal is the erasure itself, in a transaction that is rolled back: what it says is what would happen, whichever
apps had a part in it, and not what somebody thought of when they wrote this.
"""

from collections import Counter
from datetime import datetime
from typing import Final

from django.db import OperationalError, connection, transaction

from crowdrag.studies.domain import leaving
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, User

from ..models import Removal

RULE: Final = "erasure"
# A rehearsal waits for nobody and keeps nobody waiting for long.
LIMITS: Final = "SET LOCAL lock_timeout = '3s'; SET LOCAL statement_timeout = '60s'"
_TOUCHED: Final = """
    SELECT relname, n_tup_del, n_tup_upd, n_tup_ins FROM pg_stat_xact_user_tables
    WHERE n_tup_del + n_tup_upd + n_tup_ins > 0
"""
Effect = dict[str, dict[str, int]]


class BusyError(Exception):
    """Somebody is at work on what would be erased: try again in a moment."""


def find(*, study: str, pseudonym: str) -> Participant | None:
    """Return the person of a study by their pseudonym."""
    people = Participant.objects.of_kind(ParticipantKind.CROWD, ParticipantKind.EXPERT).select_related("study")
    return people.filter(study__slug=study, external_id=pseudonym).first()


def rehearse(*, participant: Participant, now: datetime) -> Effect:
    """Return how many rows of each table an erasure would delete, change and add; nothing of it stays.

    Raises
    ------
    BusyError
        when it would have to wait.
    """
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(LIMITS)
            before = _touched()
            leaving.erase(participant=participant, now=now)
            effect = _difference(before, _touched())
            transaction.set_rollback(True)
    except OperationalError as error:
        raise BusyError from error
    return effect


@transaction.atomic
def erase(*, participant: Participant, by: User, now: datetime) -> Removal:
    """Erase what somebody gave, and note that it was done: by whom, in which study, how many rows; not whose."""
    before = _touched()
    leaving.erase(participant=participant, now=now)
    effect = _difference(before, _touched())
    rows = {table: counts["deleted"] for table, counts in effect.items() if counts["deleted"]}
    return Removal.objects.create(at=now, by=by, rule=RULE, study_slug=participant.study.slug, rows=rows)


def _touched() -> dict[str, Counter[str]]:
    """Return what this transaction has done to each table so far, as the database counts it."""
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHED)
        return {name: Counter(deleted=d, changed=u, added=i) for name, d, u, i in cursor.fetchall()}


def _difference(before: dict[str, Counter[str]], after: dict[str, Counter[str]]) -> Effect:
    found = {}
    for table in sorted(after):
        counts = {name: count - before.get(table, Counter())[name] for name, count in after[table].items()}
        if any(counts.values()):
            found[table] = counts
    return found

"""Write the audit log."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.utils import timezone

from crowdrag.studies.models import Study, User

# Accesses to one thing within this time are one: a reloaded page, a player with its log, parts of a download.
REPEAT_WITHIN = timedelta(minutes=10)
_RECORD = """
    INSERT INTO audit_accesslogentry (at, by_id, study_id, study_slug, content, page, participant_id, work_key)
    SELECT %(at)s, %(by)s, %(study)s, %(slug)s, %(content)s, %(page)s, %(participant)s, %(work_key)s
    WHERE NOT EXISTS (
        SELECT FROM audit_accesslogentry WHERE by_id = %(by)s AND at > %(since)s AND content = %(content)s
        AND (work_key IS NOT NULL OR page = %(page)s)
        AND study_id IS NOT DISTINCT FROM %(study)s AND participant_id IS NOT DISTINCT FROM %(participant)s
        AND work_key IS NOT DISTINCT FROM %(work_key)s
    )
"""


def record_access(
    *,
    by: "User | AnonymousUser",
    study: Study | None,
    content: str,
    page: str,
    participant: int | None = None,
    work_key: int | None = None,
    now: datetime | None = None,
) -> bool:
    """Record that a user was shown participants' data; return whether it is a new access. One statement.

    `page` is the URL name, never the URL itself, which may contain a platform ID.
    """
    if by.pk is None:
        return False  # nobody gets here unsigned; a public page shows no participants' data
    at = now or timezone.now()
    values: dict[str, Any] = {
        "at": at,
        "since": at - REPEAT_WITHIN,
        "by": by.pk,
        "study": study.pk if study else None,
        "slug": study.slug if study else "",
        "content": content,
        "page": page,
        "participant": participant,
        "work_key": work_key,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, values)
        return bool(cursor.rowcount)

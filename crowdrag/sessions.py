"""Django's database sessions, read by a prepared statement.

Every page starts with reading a session, and participants send a request every few seconds. A process remembers the
sessions that it read last. That alone allows nothing: whoever uses a remembered session compares it with the database
in the statement that it is used for (crowdrag/studies/access.py). A session that has ended or changed since is
therefore never used.
"""

import copy
from threading import Lock
from typing import Any, Final, NamedTuple

from django.contrib.sessions.backends import db
from django.utils import timezone

from crowdrag import prepared_statements

_SESSION = "SELECT session_data FROM django_session WHERE session_key = %(key)s AND expire_date > %(now)s"

# As many sessions as a process remembers; each takes about 1 KB.
MOST_REMEMBERED: Final = 10_000


class RememberedSession(NamedTuple):
    """A session as it was read: as the database stores it, and its content, which nobody may change."""

    stored: str
    content: dict[str, Any]


_remembered: dict[str, RememberedSession] = {}
_lock = Lock()


def remembered(key: str | None) -> RememberedSession | None:
    """Return a session as this process last read it; None if it has not read it lately."""
    return _remembered.get(key or "")


def _remember(key: str, session: RememberedSession) -> None:
    with _lock:
        _remembered.pop(key, None)
        if len(_remembered) >= MOST_REMEMBERED:
            del _remembered[next(iter(_remembered))]
        _remembered[key] = session


class SessionStore(db.SessionStore):
    """Django's store in the database."""

    def load(self) -> dict[str, Any]:
        """Return the session's data; a missing or expired session is replaced by a new one under another key."""
        key = self.session_key or ""
        # Django's keys are letters and digits; the database could not even be queried for some others.
        stored = {"key": key, "now": timezone.now()}
        row = prepared_statements.first_row(_SESSION, stored) if key.isalnum() else None
        if row is None:
            self._session_key = None
            return {}
        content: dict[str, Any] = self.decode(row[0])
        _remember(key, RememberedSession(row[0], copy.deepcopy(content)))
        return content

"""Django's database sessions, read by a prepared statement.

Every page starts with reading a session, and participants send a request every few seconds.
"""

from typing import Any

from django.contrib.sessions.backends import db
from django.utils import timezone

from crowdrag import prepared_statements

_SESSION = "SELECT session_data FROM django_session WHERE session_key = %(key)s AND expire_date > %(now)s"


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
        return content

"""The log formatter: no person's text gets into the log, and a refused request is one line.

After the first line of its error messages, the database quotes the row or the statement.
"""

import copy
import logging
from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import DisallowedHost, PermissionDenied
from django.db import Error
from psycopg import Error as PostgresError


class LogFormatter(logging.Formatter):
    """Formats like the standard library, but with only the first line of a database error.

    A refused request has its reason in place of a traceback, since nothing in the code is wrong.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with the traceback if there is one."""
        if reason := _refusal_reason(record):
            record = copy.copy(record)
            record.msg, record.args = f"{record.getMessage()} {reason}", None
            record.exc_info = record.exc_text = None
        line = super().format(record)
        for error in _database_errors(record):
            message = str(error)
            first, _newline, rest = message.partition("\n")
            if rest:
                # As printed, and as it appears within quotes.
                line = line.replace(message, first).replace(repr(message)[1:-1], first)
        return line


def _refusal_reason(record: logging.LogRecord) -> str:
    """Return why a request was refused, or what to do about it; nothing for other records."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if isinstance(error, PermissionDenied):
        return f"({str(error) or type(error).__name__})"
    if isinstance(error, DisallowedHost):
        return (
            f"The environment variable ALLOWED_HOSTS is {','.join(settings.ALLOWED_HOSTS)}. If people use this name "
            "to reach the server, add it there and restart."
        )
    return ""


def first_line(error: BaseException) -> str:
    """Return an error's message; only the first line of a database error."""
    message = str(error).strip()
    return message.partition("\n")[0] if isinstance(error, Error | PostgresError) else message


def _database_errors(record: logging.LogRecord) -> Iterator[BaseException]:
    """Yield the database errors of a record, and those that caused them."""
    arguments = record.args.values() if isinstance(record.args, dict) else record.args or ()
    errors = [one for one in arguments if isinstance(one, BaseException)]
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        errors.append(record.exc_info[1])
    seen: set[int] = set()
    while errors:
        error = errors.pop()
        if id(error) in seen:
            continue
        seen.add(id(error))
        errors += [behind for behind in (error.__cause__, error.__context__) if behind is not None]
        if isinstance(error, Error | PostgresError):
            yield error

"""Limits on requests: body size, free disk space, valid ports.

Everything here is decided by the head of a request, before its body is read. A page accepts as much as a form needs. A
page that accepts files declares it (`studies.access.study_page(role, max_bytes=...)`), and authenticates the user
first. Endpoints of the API do the same (`Endpoint.largest`).
"""

import errno
import logging
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import DataError, OperationalError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.shortcuts import render
from psycopg import errors

# A form without files may be as large as `request_buffer.LARGEST_BUFFERED`, a request to the API as the setting
# `API_MAX_BODY_BYTES`. Larger files than these are imported with the command, or in parts.
#: The largest upload of an import, in bytes. The limits of its content are in `json_lines.Limits`,
#: `sources.MAX_ARCHIVE` and, for archives, analysis/archive/reader.py.
MAX_IMPORT_BYTES = 2 * 1024**3
#: The largest file that a page or the API takes for a run, in bytes.
MAX_UPLOAD_BYTES = 200 * 1024**2

log = logging.getLogger(__name__)
# While a file is received, the disk is checked each time that this many bytes have arrived.
_CHECK_EVERY = 16 * 1024 * 1024


def body_length(request: HttpRequest) -> int:
    """Return the length of the body in bytes, from its head."""
    header = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(header) if header.isdigit() else 0


def has_no_length(request: HttpRequest) -> bool:
    """Return whether the body has no declared length: Django would take it for empty."""
    return bool(request.META.get("HTTP_TRANSFER_ENCODING")) and not request.META.get("CONTENT_LENGTH")


def has_room_for(size: int) -> bool:
    """Return whether this many bytes can be stored, with enough space left for the database."""
    folder = settings.FILE_UPLOAD_TEMP_DIR or tempfile.gettempdir()
    return bool(shutil.disk_usage(folder).free - size >= settings.DISK_RESERVE)


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether something failed because a disk is full: ours, or the database's."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return isinstance(error, OperationalError) and isinstance(error.__cause__, errors.DiskFull)


def is_invalid_value(error: BaseException | None) -> bool:
    """Return whether the database rejected a value: a number or a time out of range, or the character NUL."""
    return isinstance(error, DataError)


def refusal(request: HttpRequest, max_bytes: int) -> HttpResponse | None:
    """Return the response to a request whose body must not be read; None if it may be."""
    if has_no_length(request):
        return _refusal_page(request, 411, "The request has no length. Send the header Content-Length.")
    if body_length(request) > max_bytes:
        most = max(max_bytes // 1024**2, 1)
        message = (
            "The upload is too large. You can send at most %(most)d MB at once. Import large files with the "
            "command, or in parts."
        )
        return _refusal_page(request, 413, message % {"most": most})
    if body_length(request) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE and not has_room_for(body_length(request)):
        return disk_full_response(request)
    return None


def disk_full_response(request: HttpRequest) -> HttpResponse:
    """Answer that the server's disk is full."""
    message = "The disk of this server is full, so nothing was stored. Tell the operator, and try again later."
    return _refusal_page(request, 507, message)


def _refusal_page(request: HttpRequest, status: int, message: str) -> HttpResponse:
    answer = render(request, "errors/refused.html", {"status": status, "said": message}, status=status)
    answer["X-Problem"] = message
    return answer


class RequestLimits:
    """Middleware: reject bodies that no page accepts, before anything reads them; report a full disk."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        """Check the head, unless the page does that itself after authenticating the user."""
        if getattr(view, "checks_body", False):
            return None
        return refusal(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Respond if there was no space, or if the client disconnected halfway."""
        if is_disk_full(error):
            return disk_full_response(request)
        if is_invalid_value(error):
            log.warning("The database refused a value", exc_info=error)
            return _refusal_page(request, 400, "A value cannot be stored. Check what you typed, and send it again.")
        if isinstance(error, UnreadablePostError):
            return _refusal_page(request, 400, "The request ended before it was complete. Send it again.")
        return None


class DiskReserveUploadHandler(TemporaryFileUploadHandler):
    """Writes files to disk as they arrive, as long as the database's reserve stays free."""

    def new_file(self, *args: Any, **options: Any) -> None:
        """Start a file."""
        super().new_file(*args, **options)
        self._unlooked = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Store a chunk.

        Raises
        ------
        OSError
            (`ENOSPC`) if the disk is full, or nearly.
        """
        self._unlooked += len(raw_data)
        if self._unlooked >= _CHECK_EVERY:
            self._unlooked = 0
            if not has_room_for(0):
                raise OSError(errno.ENOSPC, "less than the reserve is left on the disk")
        super().receive_data_chunk(raw_data, start)


_LAST_PORT = 65535


def refuse_bad_port(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: reject an invalid port, which would appear in the URLs on pages."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        port = request.META.get("HTTP_HOST", "").rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) <= _LAST_PORT):
            raise DisallowedHost(f"There is no port {port[:20]!r}.")
        return get_response(request)

    return answer

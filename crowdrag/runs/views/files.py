"""Files of runs, to download; a broken download goes on where it stopped."""

import re
import uuid

from django.core.files import File
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.http import parse_etags
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..models import Artifact

RANGE = re.compile(r"bytes=(\d*)-(\d*)$")


@study_page(Role.VIEWER)
@require_safe
def download(request: HttpRequest, study: Study, key: uuid.UUID, name: str) -> HttpResponseBase:
    """Send a file of a run, or the part that is asked for."""
    artifact = get_object_or_404(Artifact, run__study=study, run__key=key, name=name)
    etag = f'"{artifact.sha256}"'
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        return HttpResponse(status=304, headers={"ETag": etag})
    first, last = 0, artifact.size - 1
    part = _asked_part(request, artifact.size, etag)
    if part is not None:
        first, last = part
        if first > last:
            return HttpResponse(status=416, headers={"Content-Range": f"bytes */{artifact.size}"})
    try:
        file = artifact.file.open("rb")
    except FileNotFoundError:
        raise Http404("The storage does not hold this file any more.") from None
    file.seek(first)
    response = FileResponse(
        _Part(file, last - first + 1), as_attachment=True, filename=artifact.name, content_type=artifact.media_type
    )
    response["Content-Length"] = last - first + 1
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = etag
    if part is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {first}-{last}/{artifact.size}"
    return response


def _asked_part(request: HttpRequest, size: int, etag: str) -> tuple[int, int] | None:
    """Return the first and last byte asked for; None for the whole, first > last for a part that is not there."""
    found = RANGE.fullmatch(request.headers.get("Range", "").strip())
    if found is None or request.headers.get("If-Range", etag) != etag:
        return None
    start, end = found.groups()
    if not start and not end:
        return None
    if not start:
        return (max(size - int(end), 0), size - 1) if int(end) else (1, 0)
    return int(start), min(int(end), size - 1) if end else size - 1


class _Part:
    """A file that ends earlier."""

    def __init__(self, file: "File[bytes]", length: int):
        self._file = file
        self._left = length

    def read(self, size: int = -1) -> bytes:
        chunk: bytes = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(chunk)
        return chunk

    def close(self) -> None:
        self._file.close()

"""Send a stored file: whole, a range, or by a redirect to the storage. Interrupted downloads can be resumed."""

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.core.files.storage import default_storage
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header, parse_etags
from django.views.decorators.http import require_safe
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from . import file_storage
from .file_storage import ZipPart
from .models import Artifact

RANGE = re.compile(r"bytes=(\d*)-(\d*)$")


@dataclass(frozen=True)
class DownloadableFile:
    """A stored file, with its name and type for the download. Its checksum is the ETag, so that caches can reuse it."""

    place: str
    name: str
    media_type: str
    size: int
    sha256: str

    @property
    def etag(self) -> str:
        """The ETag, which identifies the content."""
        return f'"{self.sha256}"'


def send_file(request: HttpRequest, kept: DownloadableFile) -> HttpResponseBase:
    """Send a file, or the requested range.

    If browsers can reach the storage, they are redirected to a signed URL that is valid for a while, also for ranges.
    """
    if kept.etag in parse_etags(request.headers.get("If-None-Match", "")):
        return HttpResponse(status=304, headers={"ETag": kept.etag})
    part = _requested_range(request, kept)
    first, last = part or (0, kept.size - 1)
    if part is not None and first > last:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{kept.size}"})
    # The URL would be signed for GET; a HEAD request can be answered from what is known here.
    if (
        request.method == "GET"
        and (elsewhere := file_storage.direct_url(default_storage, **_headers(kept))) is not None
    ):
        # Not 302, which leads from a form to a page: this response is the file, for whoever counts downloads.
        return HttpResponseRedirect(elsewhere, headers={"Cache-Control": "no-store"}, preserve_request=True)
    response = StreamingHttpResponse(_content(request, kept, first, last), content_type=kept.media_type)
    response["Content-Length"] = last - first + 1
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=kept.name) or "attachment"
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = kept.etag
    if part is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {first}-{last}/{kept.size}"
    return response


def send_zip(request: HttpRequest, parts: Sequence[ZipPart], *, name: str, tag: str) -> HttpResponseBase:
    """Send several files as one ZIP, created while it is sent: always by us, complete, and of unknown size.

    `tag` identifies these files. The ETag is weak: another version of the compression library may produce other bytes
    of the same files.
    """
    etag = f'W/"{hashlib.sha256(tag.encode()).hexdigest()[:32]}"'
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        return HttpResponse(status=304, headers={"ETag": etag})
    content = iter(()) if request.method == "HEAD" else file_storage.stream_zip(default_storage, parts)
    response = StreamingHttpResponse(content, content_type="application/zip")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or "attachment"
    response["ETag"] = etag
    return response


def _content(request: HttpRequest, kept: DownloadableFile, first: int, last: int) -> Iterator[bytes]:
    if request.method == "HEAD":
        return iter(())
    try:
        return file_storage.read_part(default_storage, name=kept.place, first=first, last=last)
    except FileNotFoundError:
        raise Http404("The storage does not hold this file any more.") from None


def _headers(kept: DownloadableFile) -> dict[str, str]:
    return {"name": kept.place, "filename": kept.name, "media_type": kept.media_type}


def _requested_range(request: HttpRequest, kept: DownloadableFile) -> tuple[int, int] | None:
    """Return the first and last requested byte; None for the whole file, first > last for an unsatisfiable range."""
    match = RANGE.fullmatch(request.headers.get("Range", "").strip())
    if match is None or request.headers.get("If-Range", kept.etag) != kept.etag:
        return None
    start, end = match.groups()
    if not start and not end:
        return None
    if not start:
        return (max(kept.size - int(end), 0), kept.size - 1) if int(end) else (1, 0)
    return int(start), min(int(end), kept.size - 1) if end else kept.size - 1


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.FILE)
def download(request: HttpRequest, study: Study, key: uuid.UUID, name: str) -> HttpResponseBase:
    """Send a file of a run, or the requested range."""
    artifact = get_object_or_404(Artifact, run__study=study, run__key=key, name=name)
    audit_subject(request, None, artifact.pk)
    return _send_artifact(request, artifact)


class ArtifactFile(Endpoint):
    """A file of a run, for scripts: whatever form they say they accept, it comes as it is."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.FILE

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, study: str, key: uuid.UUID, name: str) -> HttpResponseBase:
        """Download a file of a run. With Range, only the requested part."""
        artifact = self.one(Artifact.objects.filter(run__study=self.study, run__key=key), name=name)
        self.about(None, artifact.pk)
        return _send_artifact(request._request, artifact)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Take whatever is accepted."""
        return super().perform_content_negotiation(request, force=True)


def _send_artifact(request: HttpRequest, artifact: Artifact) -> HttpResponseBase:
    kept = DownloadableFile(str(artifact.file.name), artifact.name, artifact.media_type, artifact.size, artifact.sha256)
    return send_file(request, kept)

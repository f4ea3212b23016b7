"""Files of runs, to download; a broken download goes on where it stopped."""

import uuid
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from crowdrag.api.endpoints import Endpoint, Need
from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..models import Artifact
from . import sending


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.FILE)
def download(request: HttpRequest, study: Study, key: uuid.UUID, name: str) -> HttpResponseBase:
    """Send a file of a run, or the part that is asked for."""
    artifact = get_object_or_404(Artifact, run__study=study, run__key=key, name=name)
    audit_subject(request, None, artifact.pk)
    return _sent(request, artifact)


class File(Endpoint):
    """A file of a run, for scripts: whatever form they say they accept, it comes as it is."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.FILE

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, study: str, key: uuid.UUID, name: str) -> HttpResponseBase:
        """Send a file of a run; with Range, the part that is asked for."""
        artifact = self.one(Artifact.objects.filter(run__study=self.study, run__key=key), name=name)
        self.about(None, artifact.pk)
        return _sent(request._request, artifact)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Take whatever is accepted."""
        return super().perform_content_negotiation(request, force=True)


def _sent(request: HttpRequest, artifact: Artifact) -> HttpResponseBase:
    kept = sending.Kept(str(artifact.file.name), artifact.name, artifact.media_type, artifact.size, artifact.sha256)
    return sending.send(request, kept)

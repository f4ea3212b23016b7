"""Files of runs, to download; a broken download goes on where it stopped."""

import uuid

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from crowdrag.studies.access import shows, study_page
from crowdrag.studies.enums import Role, Shown
from crowdrag.studies.models import Study

from ..models import Artifact
from . import sending


@study_page(Role.VIEWER)
@require_safe
@shows(Shown.FILE)
def download(request: HttpRequest, study: Study, key: uuid.UUID, name: str) -> HttpResponseBase:
    """Send a file of a run, or the part that is asked for."""
    artifact = get_object_or_404(Artifact, run__study=study, run__key=key, name=name)
    kept = sending.Kept(str(artifact.file.name), artifact.name, artifact.media_type, artifact.size, artifact.sha256)
    return sending.send(request, kept)

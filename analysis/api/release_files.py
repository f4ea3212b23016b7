"""The files of a release, published or not: listed, and sent."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.reverse import reverse

from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.jobs import downloads
from crowdrag.studies.enums import AuditedContent, Role

from ..domain.releases import whole
from ..models import Release, ReleaseFile


class FileRow(serializers.ModelSerializer[ReleaseFile]):
    """A file of a release. One that was taken out keeps its name, size and sum."""

    address = serializers.SerializerMethodField(help_text="Where a token gets it, before it is published too.")

    class Meta:
        model = ReleaseFile
        fields = ["path", "about", "media_type", "size", "sha256", "removed_at", "address"]

    def get_address(self, file: ReleaseFile) -> str:
        """Return where it is sent from."""
        here = self.context["view"].kwargs
        given = {"study": here["study"], "number": here["number"], "path": file.path}
        return str(reverse("api_release_file", kwargs=given, request=self.context["request"]))


class Files(ListEndpoint):
    """List the files of a release with their sums."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = ReleaseFile.objects.all()
    serializer_class = FileRow

    def rows(self) -> QuerySet[ReleaseFile]:
        """Return the files of the release that the address names."""
        return ReleaseFile.objects.filter(release=_release(self))


class Sent(Endpoint):
    """Something that is sent as it is, whatever form a script says it accepts."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Take whatever is accepted."""
        return super().perform_content_negotiation(request, force=True)


class OneFile(Sent):
    """A file of a release."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.FILE

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, study: str, number: int, path: str) -> HttpResponseBase:
        """Send a file of a release; with Range, the part that is asked for."""
        found = self.one(_release(self).files.select_related("release__study"), path=path)
        if found.removed_at is not None:
            raise Problem("gone", _("Somebody's data was taken out of it: a later version has such a file."))
        self.about(None, found.pk)
        kept = downloads.DownloadableFile(
            str(found.file.name), found.download_name, found.media_type, found.size, found.sha256
        )
        return downloads.send_file(request._request, kept)


class Zip(Sent):
    """All files of a release."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.FILE

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, study: str, number: int) -> HttpResponseBase:
        """Send all files of a release as one ZIP, before it is published too. It is made while it is sent: no Range."""
        found = whole.of(_release(self))
        if found is None:
            raise Problem("gone", _("There is no file in it: it is not built, or all that it held was taken out."))
        self.about(None)
        return downloads.send_zip(request._request, found.parts, name=found.name, tag=found.tag)


def _release(endpoint: Endpoint) -> Release:
    rows = Release.objects.filter(study=endpoint.study)
    return endpoint.one(rows, number=endpoint.kwargs["number"])

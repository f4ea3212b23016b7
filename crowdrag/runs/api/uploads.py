"""Files that were handed in to a study for runs to read."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import ListEndpoint, Need
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..domain import uploads
from ..models import Upload

#: As on pages; larger files come by the command.
MOST_BYTES = 200 * 1024 * 1024


class UploadRow(serializers.ModelSerializer[Upload]):
    """A file that was handed in, kept as it came."""

    class Meta:
        model = Upload
        fields = ["id", "name", "size", "sha256", "uploaded_at"]


class NewUpload(RequestBody):
    """A file."""

    file = serializers.FileField(max_length=255)


class Uploads(ListEndpoint):
    """List the files that were handed in to a study, the newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": Need(Role.EDITOR, Scope.WRITE)}
    queryset = Upload.objects.all()
    serializer_class = UploadRow
    parser_classes = (MultiPartParser,)
    largest = MOST_BYTES
    order = ("-uploaded_at", "-id")

    @extend_schema(request={"multipart/form-data": NewUpload}, responses={201: UploadRow})
    def post(self, request: Request, study: str) -> Response:
        """Hand in a file for a run to read: the questions of an experiment, say."""
        given = self.given(NewUpload)
        made = uploads.store(study=self.study, source=given["file"], by=self.user)
        return Response(UploadRow(made).data, status=201)

"""Endpoints of runs: list, detail, files, cancel, resume, and uploads for runs."""

import uuid
from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.request_limits import MAX_UPLOAD_BYTES
from crowdrag.studies.enums import Role

from . import kinds, lifecycle, run_files
from .enums import RunState
from .models import Artifact, Run, Upload


class RunRow(serializers.ModelSerializer[Run]):
    """A run, with its numbers of units."""

    title = serializers.SerializerMethodField(help_text="Readable name of `kind`.")
    units_total = serializers.SerializerMethodField(help_text="Number of units of work in the run.")
    units_done = serializers.SerializerMethodField(help_text="Number of finished units.")
    units_failed = serializers.SerializerMethodField(help_text="Number of failed units.")

    class Meta:
        model = Run
        fields = [
            "key",
            "kind",
            "title",
            "queue",
            "state",
            "units_total",
            "units_done",
            "units_failed",
            "parameters",
            "seed",
            "inputs_digest",
            "code_version",
            "error",
            "problems",
            "summary",
            "created_at",
            "started_at",
            "finished_at",
            "stale_at",
            "stale_reason",
        ]
        extra_kwargs = {
            "problems": {"help_text": "Problems in the input, one per row. For finished runs: the skipped rows."},
            "stale_at": {"help_text": "Time when the inputs of the run changed. Null: unchanged."},
        }

    def get_title(self, run: Run) -> str:
        """Title of the run's type."""
        return kinds.title(run.kind)

    def get_units_total(self, run: Any) -> int:
        """Number of units."""
        return run.units_total or 0

    def get_units_done(self, run: Any) -> int:
        """Number of finished units."""
        return run.units_done or 0

    def get_units_failed(self, run: Any) -> int:
        """Number of failed units."""
        return run.units_failed or 0


class ArtifactRow(serializers.ModelSerializer[Artifact]):
    """A file created by a run."""

    class Meta:
        model = Artifact
        fields = ["name", "media_type", "size", "sha256", "created_at"]


class RunFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Filters of runs."""

    kind = django_filters.CharFilter(help_text="Type of the run, for example `import.topics`.")
    state = django_filters.ChoiceFilter(choices=RunState.choices)

    class Meta:
        model = Run
        fields = ["kind", "state"]


class Runs(ListEndpoint):
    """List the runs of a study, newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = Run.objects.with_unit_counts()
    serializer_class = RunRow
    filterset_class = RunFilter
    order = ("-created_at", "-id")


class OneRun(Endpoint):
    """A run."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = RunRow

    def get(self, request: Request, study: str, key: uuid.UUID) -> Response:
        """Show a run. To follow it, repeat the request with If-None-Match. The answer is 304 while nothing changes."""
        return Response(RunRow(self.run(key)).data)

    def run(self, key: uuid.UUID) -> Run:
        """Return the run that the address names."""
        return self.one(Run.objects.filter(study=self.study).with_unit_counts(), key=key)


class RunCancellation(OneRun):
    """The cancellation of a run."""

    needs: ClassVar = {"POST": Need(Role.EDITOR, Scope.RUN)}

    @extend_schema(request=None, responses=RunRow)
    def post(self, request: Request, study: str, key: uuid.UUID) -> Response:
        """Cancel a run. The results of finished units are kept."""
        try:
            lifecycle.cancel(run=self.run(key), by=self.user)
        except lifecycle.NotActiveError as error:
            raise Problem("conflict", str(error)) from None
        return Response(RunRow(self.run(key)).data)


class RunResumption(OneRun):
    """The resumption of a run."""

    needs: ClassVar = {"POST": Need(Role.EDITOR, Scope.RUN)}

    @extend_schema(request=None, responses=RunRow)
    def post(self, request: Request, study: str, key: uuid.UUID) -> Response:
        """Resume a failed or cancelled run. Finished units are not repeated."""
        try:
            lifecycle.resume(run=self.run(key), by=self.user)
        except lifecycle.NotResumableError as error:
            raise Problem("conflict", str(error)) from None
        return Response(RunRow(self.run(key)).data)


class Artifacts(ListEndpoint):
    """List the files of a run."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = Artifact.objects.all()
    serializer_class = ArtifactRow

    def rows(self) -> QuerySet[Artifact]:
        """Return the run's files."""
        run = self.one(Run.objects.filter(study=self.study), key=self.kwargs["key"])
        return Artifact.objects.filter(run=run)


class UploadRow(serializers.ModelSerializer[Upload]):
    """An uploaded file, stored unchanged."""

    class Meta:
        model = Upload
        fields = ["id", "name", "size", "sha256", "uploaded_at"]


class NewUpload(RequestBody):
    """A file to upload."""

    file = serializers.FileField(max_length=255)


class Uploads(ListEndpoint):
    """List the uploaded files of a study, newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": Need(Role.EDITOR, Scope.WRITE)}
    queryset = Upload.objects.all()
    serializer_class = UploadRow
    parser_classes = (MultiPartParser,)
    largest = MAX_UPLOAD_BYTES
    order = ("-uploaded_at", "-id")

    @extend_schema(request={"multipart/form-data": NewUpload}, responses={201: UploadRow})
    def post(self, request: Request, study: str) -> Response:
        """Upload a file for a run, such as the questions of an experiment."""
        fields = self.validated(NewUpload)
        upload = run_files.store_upload(study=self.study, source=fields["file"], by=self.user)
        return Response(UploadRow(upload).data, status=201)


class Started(serializers.ModelSerializer[Run]):
    """A run that was started. Follow it at `runs/{key}/`."""

    class Meta:
        model = Run
        fields = ["key", "kind", "state", "parameters", "seed", "created_at"]

"""API of exports and clones of a study."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.serializers import RequestBody
from crowdrag.jobs.api import Started
from crowdrag.jobs.models import Artifact
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.studies.study.models import validate_short_name

from . import clones, services


class ExportRow(serializers.ModelSerializer[Artifact]):
    """A finished export. Download it by its name from the artifacts of its run."""

    run = serializers.UUIDField(source="run.key", help_text="Key of the run that created the export.")
    format = serializers.SerializerMethodField(
        help_text="Format of the export: `archive`, `crowdrag25`, or a format of answers."
    )

    class Meta:
        model = Artifact
        fields = ["run", "format", "name", "size", "sha256", "created_at"]

    def get_format(self, artifact: Artifact) -> str:
        """Format of the export."""
        return artifact.run.kind.partition(".")[2]


class NewExport(RequestBody):
    """The format of an export.

    `archive` holds the whole study, `crowdrag25` has the layout of CrowdRAG-25, and the others hold the answers.
    """

    format = serializers.ChoiceField([(name, name) for name in services.WRITERS])


class Exports(ListEndpoint):
    """List the finished exports of a study, newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": Need(Role.EDITOR, Scope.RUN)}
    open_when_archived = frozenset({"POST"})
    queryset = Artifact.objects.all()
    serializer_class = ExportRow
    order = ("-created_at", "-id")

    def rows(self) -> QuerySet[Any]:
        """Return the study's exports."""
        return services.finished(self.study)

    @extend_schema(request=NewExport, responses={202: Started})
    def post(self, request: Request, study: str) -> Response:
        """Start an export. It is listed among the runs at once, and here when it is done."""
        run = services.start(study=self.study, format_=self.validated(NewExport)["format"], by=self.user)
        where = request.build_absolute_uri(reverse("api_run", args=[self.study.slug, run.key]))
        return Response(Started(run).data, status=202, headers={"Location": where})


class NewClone(RequestBody):
    """The names of the clone, and whether it includes imported responses."""

    slug = serializers.SlugField(
        max_length=80,
        validators=[
            validate_short_name,
            UniqueValidator(Study.objects.all(), message="A study with this name already exists. Choose another name."),
        ],
    )
    title = serializers.CharField(max_length=200)
    with_responses = serializers.BooleanField(
        default=False, help_text="Whether to copy the imported responses of systems and models."
    )


class Clone(Endpoint):
    """Clones of a study."""

    needs: ClassVar = {"POST": Need(Role.EDITOR, Scope.CREATE)}
    open_when_archived = frozenset({"POST"})
    serializer_class = Started

    @extend_schema(request=NewClone, responses={202: Started})
    def post(self, request: Request, study: str) -> Response:
        """Clone a study. The new study exists at once; the run in the answer fills it."""
        run = clones.start(source=self.study, by=self.user, **self.validated(NewClone))
        where = request.build_absolute_uri(reverse("api_run", args=[run.study.slug, run.key]))
        return Response(Started(run).data, status=202, headers={"Location": where})

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
from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.serializers import RequestBody
from crowdrag.jobs.api import Started
from crowdrag.jobs.models import Artifact
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.studies.study.models import validate_short_name

from . import clones, services


class ExportRow(serializers.ModelSerializer[Artifact]):
    """An export that can be downloaded: from its run's artifacts, by its name."""

    run = serializers.UUIDField(source="run.key")
    format = serializers.SerializerMethodField()

    class Meta:
        model = Artifact
        fields = ["run", "format", "name", "size", "sha256", "created_at"]

    def get_format(self, artifact: Artifact) -> str:
        """Return what the run writes."""
        return artifact.run.kind.partition(".")[2]


class NewExport(RequestBody):
    """In which format: `archive` holds the whole study, `crowdrag25` is as the CrowdRAG-25 corpus."""

    format = serializers.ChoiceField([(name, name) for name in services.WRITERS])


class Exports(ListEndpoint):
    """List the exports of a study that can be downloaded, the newest first."""

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
        """Start an export. It stands among the runs at once, and here when it is done."""
        run = services.start(study=self.study, format_=self.validated(NewExport)["format"], by=self.user)
        where = request.build_absolute_uri(reverse("api_run", args=[self.study.slug, run.key]))
        return Response(Started(run).data, status=202, headers={"Location": where})


class NewClone(RequestBody):
    """How the clone is called, and whether it has the imported responses."""

    slug = serializers.SlugField(
        max_length=80,
        validators=[
            validate_short_name,
            UniqueValidator(Study.objects.all(), message="A study with this name already exists. Choose another name."),
        ],
    )
    title = serializers.CharField(max_length=200)
    with_responses = serializers.BooleanField(default=False, help_text="Imported responses of systems and models.")


class Clone(Endpoint):
    """Clones of a study."""

    needs: ClassVar = {"POST": Need(Role.EDITOR, Scope.CREATE)}
    open_when_archived = frozenset({"POST"})
    serializer_class = Started

    @extend_schema(request=NewClone, responses={202: Started})
    def post(self, request: Request, study: str) -> Response:
        """Clone a study. The answer is the run that fills the new study, which is there at once."""
        run = clones.start(source=self.study, by=self.user, **self.validated(NewClone))
        where = request.build_absolute_uri(reverse("api_run", args=[run.study.slug, run.key]))
        return Response(Started(run).data, status=202, headers={"Location": where})

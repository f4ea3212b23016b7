"""Runs of a study: what there are, one, its files; cancel and resume."""

import uuid
from typing import ClassVar

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.studies.enums import Role

from ..domain import running
from ..enums import RunState
from ..models import Artifact, Run
from .rows import ArtifactRow, RunRow


class RunFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which runs."""

    kind = django_filters.CharFilter(help_text="As `import.topics`.")
    state = django_filters.ChoiceFilter(choices=RunState.choices)

    class Meta:
        model = Run
        fields = ["kind", "state"]


class Runs(ListEndpoint):
    """List the runs of a study, the newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = Run.objects.with_unit_counts()
    serializer_class = RunRow
    filterset_class = RunFilter
    order = ("-created_at", "-id")


class OneRun(Endpoint):
    """One run."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = RunRow

    def get(self, request: Request, study: str, key: uuid.UUID) -> Response:
        """Show a run. While it is at work, ask again now and then: with If-None-Match, until the answer is no 304."""
        return Response(RunRow(self.run(key)).data)

    def run(self, key: uuid.UUID) -> Run:
        """Return the run that the address names."""
        return self.one(Run.objects.filter(study=self.study).with_unit_counts(), key=key)


class Cancelled(OneRun):
    """A run's cancelling."""

    needs: ClassVar = {"POST": Need(Role.EDITOR, Scope.RUN)}

    @extend_schema(request=None, responses=RunRow)
    def post(self, request: Request, study: str, key: uuid.UUID) -> Response:
        """Cancel a run. What its finished units did stays."""
        try:
            running.cancel(run=self.run(key), by=self.user)
        except running.NotActiveError as error:
            raise Problem("conflict", str(error)) from None
        return Response(RunRow(self.run(key)).data)


class Resumed(OneRun):
    """A run's resuming."""

    needs: ClassVar = {"POST": Need(Role.EDITOR, Scope.RUN)}

    @extend_schema(request=None, responses=RunRow)
    def post(self, request: Request, study: str, key: uuid.UUID) -> Response:
        """Go on with a run that failed or was cancelled: what is done stays done."""
        try:
            running.resume(run=self.run(key), by=self.user)
        except running.NotResumableError as error:
            raise Problem("conflict", str(error)) from None
        return Response(RunRow(self.run(key)).data)


class Artifacts(ListEndpoint):
    """List the files that a run made."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = Artifact.objects.all()
    serializer_class = ArtifactRow

    def rows(self) -> QuerySet[Artifact]:
        """Return the run's files."""
        run = self.one(Run.objects.filter(study=self.study), key=self.kwargs["key"])
        return Artifact.objects.filter(run=run)

"""Results: analyses and experiments that are done, their tables, and a new analysis."""

from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import IntegerFilter, RequestBody
from crowdrag.jobs.api import Started
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import AuditedContent, Role

from ..methods.settings import PARAMETERS
from ..parameters import BadParameterError, Parameter
from ..tables import run_tables
from ..tables.models import ResultTable
from . import services

# Read names only: the rows of a table may be large.
NAMES = Prefetch("tables", ResultTable.objects.only("id", "run_id", "name"), to_attr="own_tables")


class ResultRow(serializers.ModelSerializer[Run]):
    """A finished run with result tables, and its inputs: parameters, seed and code version."""

    tables = serializers.SerializerMethodField(
        help_text="Table names as in docs/reference/tables.md. For an update: the tables that it recomputed."
    )

    class Meta:
        model = Run
        fields = ["key", "kind", "parameters", "seed", "inputs_digest", "code_version", "summary", "created_at",
                  "finished_at", "stale_at", "stale_reason", "tables"]  # fmt: skip

    def get_tables(self, run: Any) -> list[str]:
        """Names of the run's tables."""
        return run_tables.in_order(table.name for table in run.own_tables)


class TableOfResults(serializers.Serializer[Any]):
    """A table of results."""

    name = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(
        child=serializers.DictField(), help_text="One object per row, by column name. Null: the value is undefined."
    )


def _field(parameter: Parameter) -> serializers.Field[Any, Any, Any, Any]:
    """Return the request field of a parameter."""
    about = ". ".join(str(text).rstrip(".") for text in (parameter.label, parameter.help) if text) + "."
    common: dict[str, Any] = {"required": False, "help_text": about}
    if parameter.default is None:
        common["allow_null"] = True
    if parameter.kind == "flag":
        return serializers.BooleanField(**common)
    if parameter.kind == "choice":
        choices = [(value, label) for value, label in parameter.choices if value]
        return serializers.ChoiceField(choices, allow_blank=parameter.default == "", **common)
    if parameter.kind == "text":
        return serializers.CharField(max_length=200, allow_blank=parameter.default == "", **common)
    number = serializers.IntegerField if parameter.kind == "integer" else serializers.FloatField
    return number(min_value=parameter.least, max_value=parameter.most, **common)  # type: ignore[arg-type]


class Parameters(RequestBody):
    """Parameters of an analysis. Omitted ones have their defaults (docs/methods)."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """A field for each parameter."""
        return {name: _field(parameter) for name, parameter in PARAMETERS.items()}


class NewAnalysis(RequestBody):
    """The settings of a new analysis."""

    seed = serializers.IntegerField(min_value=0, max_value=2**31, required=False, default=0)
    parameters = Parameters(required=False, default=dict)


class ResultFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Filters of results."""

    kind = django_filters.CharFilter(
        max_length=100, help_text="Type of the run, for example `analysis`, `analysis.update` or `experiment.fair`."
    )
    seed = IntegerFilter(min_value=0, max_value=2**31)

    class Meta:
        model = Run
        fields: ClassVar[list[str]] = []


class ResultsOfStudy(ListEndpoint):
    """List the finished analyses and experiments of a study, newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": Need(Role.EDITOR, Scope.RUN)}
    queryset = Run.objects.all()
    serializer_class = ResultRow
    filterset_class = ResultFilter
    order = ("-created_at", "-id")

    def rows(self) -> QuerySet[Run]:
        """Return the runs that have tables."""
        return _of(self)

    @extend_schema(request=NewAnalysis, responses={202: Started})
    def post(self, request: Request, study: str) -> Response:
        """Start an analysis. It is listed among the runs at once, and here when it is done."""
        body = self.validated(NewAnalysis)
        try:
            run = services.start(study=self.study, by=self.user, seed=body["seed"], parameters=body["parameters"])
        except BadParameterError as error:
            errors = [{"pointer": "#/parameters", "detail": str(error), "code": "refused"}]
            raise Problem("refused", str(error), errors=errors) from None
        except services.NothingToAnalyseError as error:
            raise Problem("conflict", str(error)) from None
        where = request.build_absolute_uri(reverse("api_run", args=[self.study.slug, run.key]))
        return Response(Started(run).data, status=202, headers={"Location": where})


class OneResult(Endpoint):
    """A finished analysis or experiment."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = ResultRow

    def get(self, request: Request, study: str, key: UUID) -> Response:
        """Show the inputs and the table names of a finished analysis or experiment."""
        return Response(ResultRow(self.one(_of(self), key=key)).data)


class OneTable(Endpoint):
    """A table of results."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.PEOPLE
    serializer_class = TableOfResults

    def get(self, request: Request, study: str, key: UUID, name: str) -> Response:
        """Show a whole table. If an update did not recompute it, this is the table of the analysis that was updated."""
        run = self.one(_of(self), key=key)
        try:
            table = run_tables.table(run, name)
        except run_tables.UnknownTableError:
            raise Problem("not-found") from None
        return Response({"name": name, "columns": table.columns, "rows": table.rows})


def _of(endpoint: Endpoint) -> QuerySet[Run]:
    done = Run.objects.filter(study=endpoint.study, state=RunState.DONE)
    return (
        done.filter(Exists(ResultTable.objects.filter(run=OuterRef("pk"))))
        .select_related("study")
        .prefetch_related(NAMES)
    )

"""Experiments: which there are and what each asks for, what one would come to, and starting it."""

from decimal import Decimal
from typing import Any, ClassVar

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.jobs import kinds
from crowdrag.jobs.api import Started as StartedRow
from crowdrag.jobs.enums import RunState
from crowdrag.studies.enums import Role

from ..rag.retrieval.index_library import MissingIndexError
from ..tables import run_tables
from . import experiment, index_runs, services
from .experiment import BadParameterError, Experiment
from .question_sets import BadCollectionError

STARTED = Need(Role.EDITOR, Scope.RUN)
MOST = 2**31 - 1
MOST_OTHERS = 200


class FieldRow(serializers.Serializer[Any]):
    """A parameter of an experiment."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # a field, and no attribute
    help = serializers.CharField()
    kind = serializers.CharField(
        help_text="Type of the value: `integer`, `number`, `text`, `flag`, `choice`, `choices`, `numbers` or `model`."
    )
    least = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(
        allow_null=True, help_text="Maximum value. For text: the maximum number of characters. Null: no maximum."
    )
    choices = serializers.ListField(child=serializers.CharField())
    default = serializers.JSONField(allow_null=True)


class ExperimentRow(serializers.Serializer[Any]):
    """An experiment that can be started."""

    name = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField()
    sources = serializers.ListField(
        child=serializers.CharField(), help_text="Possible data: the study, or uploaded files."
    )
    parameters = FieldRow(many=True)


class OfferedRow(serializers.Serializer[Any]):
    """The available experiments, and the models that can answer their questions."""

    results = ExperimentRow(many=True)
    generators = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the models that can answer the questions."
    )


class Questions(RequestBody):
    """The questions of an experiment: those of the study, or of an uploaded file (`uploads/`)."""

    source = serializers.CharField(max_length=100)  # type: ignore[assignment]
    style = serializers.CharField(  # type: ignore[assignment]
        max_length=100,
        required=False,
        allow_blank=True,
        default="",
        help_text="If the source is the study: name of the style of the responses.",
    )
    upload = serializers.IntegerField(
        min_value=1,
        max_value=MOST,
        required=False,
        allow_null=True,
        default=None,
        help_text="If the source is a file: ID of the upload.",
    )
    others = serializers.IntegerField(
        min_value=0, max_value=MOST_OTHERS, required=False, default=0,
        help_text="If the source is a file: number of passages from other questions to add to those of each question.",
    )  # fmt: skip


class Ordered(RequestBody):
    """The settings of an experiment."""

    collection = Questions()
    generator = serializers.CharField(max_length=500, help_text="Name of the model that answers, one of `generators`.")
    queries = serializers.IntegerField(
        min_value=0, max_value=services.MOST_QUERIES, required=False, default=100,
        help_text="Maximum number of questions, sampled with the seed. 0: all.",
    )  # fmt: skip
    seed = serializers.IntegerField(min_value=0, max_value=MOST, required=False, default=0)
    parameters = serializers.DictField(
        child=serializers.JSONField(),
        required=False,
        default=dict,
        help_text=("Parameters of the experiment. Missing ones have their defaults."),
    )


class EstimateRow(serializers.Serializer[Any]):
    """An estimate of the size and cost of an experiment. Nothing was sent yet."""

    calls = serializers.IntegerField(
        source="estimate.calls", help_text="Expected number of calls: one for each distinct prompt."
    )
    prompt_tokens = serializers.IntegerField(source="estimate.prompt_tokens")
    completion_tokens = serializers.IntegerField(source="estimate.completion_tokens")
    most_calls = serializers.IntegerField(
        source="estimate.worst.calls", help_text="Maximum number of calls, if every answer that may need a retry does."
    )
    most_prompt_tokens = serializers.IntegerField(source="estimate.worst.prompt_tokens")
    most_completion_tokens = serializers.IntegerField(source="estimate.worst.completion_tokens")
    questions = serializers.IntegerField(source="estimate.queries")
    note = serializers.CharField(source="estimate.note")
    units = serializers.IntegerField(help_text="Number of units of work of the run.")
    cost = serializers.FloatField(help_text="Maximum cost, in minor units of `currency`.")
    currency = serializers.CharField()
    left = serializers.FloatField(
        allow_null=True,
        help_text="Remaining budget of the study, in minor units of `currency`. Null: the experiment costs nothing.",
    )
    is_over_budget = serializers.BooleanField()
    seconds = serializers.FloatField(allow_null=True, help_text="Expected duration in seconds. Null: unknown.")
    problem = serializers.CharField(help_text="Reason why the experiment cannot start. Empty if it can.")
    order = serializers.CharField(help_text="Identifies the estimated settings. Equal values mean identical settings.")


class Begun(Ordered):
    """The settings of an experiment that is started."""

    order = serializers.CharField(
        max_length=100, required=False, allow_blank=True, default="",
        help_text="The `order` of the estimate. If set, the run starts only if it matches the estimate.",
    )  # fmt: skip


class Experiments(Endpoint):
    """The available experiments."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = OfferedRow

    def get(self, request: Request, study: str) -> Response:
        """List the available experiments with their parameters, and the models that can answer."""
        rows = [_row(offered) for offered in experiment.EXPERIMENTS.values()]
        return Response(OfferedRow({"results": rows, "generators": [name for name, _title in services.offered()]}).data)


class Ordering(Endpoint):
    """Something that an order is sent to."""

    needs: ClassVar = {"POST": STARTED}

    def ordered(self, name: str, body: dict[str, Any]) -> services.Order:
        """Return what is ordered, checked; refuse what cannot be."""
        if name not in experiment.EXPERIMENTS:
            raise Problem("not-found")
        if taken := sorted(set(body["parameters"]) & set(experiment.COMMON)):
            raise _refused(f"Not a parameter of the experiment: {', '.join(taken)}.", "#/parameters")
        if not _is_storable(body["parameters"]):
            raise _refused("A text contains characters that cannot be stored.", "#/parameters")
        try:
            collection = self._collection(**body["collection"])
        except BadParameterError as error:
            raise _refused(str(error), "#/collection") from None
        common = {"collection": collection, "generator": body["generator"], "queries": body["queries"]}
        try:
            parameters = {**body["parameters"], **common}
            return services.order(experiment.EXPERIMENTS[name], self.study, parameters, seed=body["seed"])
        except BadParameterError as error:
            raise _refused(str(error), "#/parameters") from None

    def _collection(self, source: str, style: str, upload: int | None, others: int) -> dict[str, Any]:
        if source in run_tables.OF_STUDY:
            return {"source": source, "style": style}
        return services.of_upload(self.study, source, upload or 0, others)


class Estimated(Ordering):
    """The estimate of an experiment."""

    @extend_schema(request=Ordered, responses=EstimateRow)
    def post(self, request: Request, study: str, name: str) -> Response:
        """Estimate the size and cost of an experiment. Nothing is stored or sent."""
        order = self.ordered(name, self.validated(Ordered))
        try:
            forecast = services.forecast(order)
        except (BadParameterError, BadCollectionError) as error:
            raise _refused(str(error), "#/collection") from None
        found_as = {
            field: getattr(forecast, field) for field in ("units", "currency", "seconds", "problem", "estimate")
        }
        money = {"cost": forecast.cost, "left": forecast.left, "is_over_budget": forecast.is_over_budget}
        plain = {key: float(value) if isinstance(value, Decimal) else value for key, value in money.items()}
        return Response(EstimateRow({**found_as, **plain, "order": order.digest}).data)


class Started(Ordering):
    """The start of an experiment."""

    @extend_schema(request=Begun, responses={202: StartedRow})
    def post(self, request: Request, study: str, name: str) -> Response:
        """Start an experiment. It is listed among the runs at once, and among the results when it is done."""
        body = self.validated(Begun)
        expected_digest = body.pop("order")
        order = self.ordered(name, body)
        if expected_digest and expected_digest != order.digest:
            message = "This order differs from the estimate. Request a new estimate and send its `order`."
            raise _refused(message, "#/order")
        try:
            run = services.start(order, by=self.user)
        except kinds.InputRejectedError as error:
            raise _refused(error.problems[0]["message"], "#/collection") from None
        where = request.build_absolute_uri(reverse("api_run", args=[self.study.slug, run.key]))
        return Response(StartedRow(run).data, status=202, headers={"Location": where})


class IndexRow(serializers.Serializer[Any]):
    """A search index of a corpus, complete or being built."""

    key = serializers.CharField(help_text="Identifies a complete index. Empty if it is not complete.")
    corpus = serializers.CharField(help_text="Name of the corpus file.")
    retriever = serializers.CharField(source="choice", help_text="Name of the retriever with its settings.")
    sha256 = serializers.CharField(help_text="SHA-256 of the corpus file.")
    state = serializers.ChoiceField(choices=RunState.choices, help_text="State of the run that builds it.")
    passages = serializers.IntegerField(source="documents", allow_null=True)
    bytes = serializers.IntegerField(source="size", allow_null=True, help_text="Size of its files.")
    built_at = serializers.DateTimeField(allow_null=True)
    run = serializers.UUIDField(source="run.key", help_text="Key of the run.")


class IndexesRow(serializers.Serializer[Any]):
    """The search indexes of a study."""

    results = IndexRow(many=True)


class Indexes(Endpoint):
    """The search indexes of a study."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = IndexesRow

    def get(self, request: Request, study: str) -> Response:
        """List the search indexes that runs of the study built or are building, the newest run first."""
        return Response(IndexesRow({"results": index_runs.of_study(self.study)}).data)


class OneIndex(Endpoint):
    """A search index of a study."""

    needs: ClassVar = {"DELETE": STARTED}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, key: str) -> Response:
        """Delete a search index. Experiments that search the corpus then need a new one, or read the whole corpus."""
        try:
            index_runs.delete(self.study, key)
        except MissingIndexError:
            raise Problem("not-found") from None
        except BadParameterError as error:
            raise _refused(str(error), "") from None
        return Response(status=204)


def _row(offered: Experiment) -> dict[str, Any]:
    usual = offered.own_parameters({}).to_dict()
    fields = [
        {
            "name": parameter.name, "label": str(parameter.label), "help": str(parameter.help), "kind": parameter.kind,
            "least": parameter.least, "most": parameter.most,
            "choices": [value for value, _label in parameter.choices], "default": usual.get(parameter.name),
        }
        for parameter in offered.declared
    ]  # fmt: skip
    description = {
        "name": offered.name,
        "title": str(offered.title),
        "about": str(offered.about),
    }
    return {**description, "sources": list(offered.collections), "parameters": fields}


def _is_storable(value: Any) -> bool:
    """Say whether the database takes all texts of a JSON value: no null character, no half of a pair."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(_is_storable(part) for pair in value.items() for part in pair)
    return not isinstance(value, list) or all(map(_is_storable, value))


def _refused(message: str, pointer: str) -> Problem:
    return Problem("refused", message, errors=[{"pointer": pointer, "detail": message, "code": "refused"}])

"""Endpoints of models as writers: estimate, start, answers."""

from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.run_orders.api import NEEDS_TO_START, Confirmed, ModelOrderFields, OfCalls, OrderEndpoint
from crowdrag.llm.models import Endpoint as Model
from crowdrag.studies.enums import Role

from ..corpus import versions
from ..enums import AnswerOutcome
from ..models import ModelAnswer, Style
from . import outcomes, prompts, queries, targets, writer_run
from .forms import WritingOrderForm
from .targets import TopicSelection
from .writer import AnswerForm
from .writer_run import Order


class WritingOffer(serializers.Serializer[Any]):
    """The available models, styles and the default prompt."""

    endpoints = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the models that the operator allows."
    )
    styles = serializers.ListField(child=serializers.CharField())
    prompt = serializers.CharField(help_text="The prompt that was used last, or the default prompt.")


class WritingOrder(ModelOrderFields):
    """Settings of a model writer run. Topics without passages are left out."""

    styles = serializers.ListField(child=serializers.CharField(max_length=100), min_length=1, max_length=1000)
    which = serializers.ChoiceField(
        TopicSelection.choices, required=False, default=TopicSelection.NO_MODEL,
        help_text="Topics to write on.",
    )  # fmt: skip
    topics = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, default=list, max_length=100_000,
        help_text="Topic IDs, if `which` is `chosen`.",
    )  # fmt: skip
    form = serializers.ChoiceField(
        AnswerForm.choices,
        required=False,
        default=AnswerForm.TEXT,
        help_text="Format of the answer.",
    )
    words = serializers.IntegerField(
        min_value=10,
        max_value=5000,
        required=False,
        allow_null=True,
        default=None,
        help_text="Number of words to ask for. Null: the number of the style.",
    )
    overlong = serializers.FloatField(
        min_value=1, max_value=100, required=False, default=outcomes.OVERLONG,
        help_text="An answer with more than this multiple of the requested words is too long.",
    )  # fmt: skip
    accept_overlong = serializers.BooleanField(
        required=False, default=False, help_text="Whether answers that are too long are stored as responses."
    )
    temperature = serializers.FloatField(
        min_value=0, max_value=2, required=False, allow_null=True, default=None, help_text="Null: the server's default."
    )
    frequency_penalty = serializers.FloatField(min_value=-2, max_value=2, required=False, allow_null=True, default=None)
    seed = serializers.IntegerField(min_value=0, max_value=2**31, required=False, allow_null=True, default=None)


class WritingBegun(Confirmed, WritingOrder):
    """The settings of a model writer run that is started."""


class Writing(OrderEndpoint):
    """Something that an order of responses is sent to."""

    def wanted(self, data: dict[str, Any]) -> Order:
        """Return what is ordered, checked as the page's form checks it."""
        fields = data | {
            "endpoint": self.model(data["endpoint"]),
            "prompt": data["prompt"] or prompts.latest_text(self.study),
            "topics": "\n".join(data["topics"]),
        }
        return self.ordered(WritingOrderForm(self.study, fields))


class ModelWriters(Writing):
    """Models that write."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "POST": NEEDS_TO_START}
    serializer_class = WritingOffer

    def get(self, request: Request, study: str) -> Response:
        """Show the available models, styles and the default prompt."""
        names = [*versions.current(Style, study=self.study), *versions.DEFAULT_STYLES]
        offered = Model.objects.allowed().order_by("name").values_list("name", flat=True)
        shown = {"endpoints": list(offered), "styles": list(dict.fromkeys(names))}
        return Response(WritingOffer(shown | {"prompt": prompts.latest_text(self.study)}).data)

    @extend_schema(request=WritingBegun, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Start a model writer run. Its answers are stored as responses during the run."""
        data = self.validated(WritingBegun)
        order_data = data.pop("order")
        return self.started(
            self.wanted(data), order_data, lambda order: writer_run.start(study=self.study, order=order, by=self.user)
        )


class ModelWritersEstimated(Writing):
    """The estimate of a model writer run."""

    @extend_schema(request=WritingOrder, responses=OfCalls)
    def post(self, request: Request, study: str) -> Response:
        """Estimate the cost of a model writer run and show the exact prompts. Nothing is sent."""
        order = self.wanted(self.validated(WritingOrder))
        text = order.writer().text
        first = tuple(text(one) for one in targets.slots_of(order.pairs(self.study)[:1]))
        return self.estimated(order, writer_run.forecast(study=self.study, order=order), first)


# The fields to load. Otherwise, each row would include the texts of its topic and response.
SHOWN = ("run_id", "topic__external_id", "style__name", "participant__external_id", "response__external_id", "outcome",
         "text", "words", "answered_at")  # fmt: skip


class WriterAnswerRow(serializers.ModelSerializer[ModelAnswer]):
    """A model's answer for one topic and style."""

    topic = serializers.CharField(source="topic.external_id")
    style = serializers.CharField(source="style.name")  # type: ignore[assignment] # the name of an attribute of fields
    participant = serializers.CharField(source="participant.external_id", help_text="Pseudonym of the model.")
    response = serializers.CharField(
        source="response.external_id",
        default=None,
        allow_null=True,
        help_text="ID of the stored response. Null: none was stored.",
    )

    class Meta:
        model = ModelAnswer
        fields = ["topic", "style", "participant", "outcome", "text", "words", "response", "answered_at"]
        extra_kwargs = {"text": {"help_text": "Text of the answer. Empty if it was erased."}}


class WriterAnswerFilter(django_filters.FilterSet):  # type: ignore[misc] # untyped base class
    """Filters of answers."""

    outcome = django_filters.ChoiceFilter(choices=AnswerOutcome.choices)
    topic = django_filters.CharFilter(field_name="topic__external_id", max_length=200)
    style = django_filters.CharFilter(field_name="style__name", max_length=100, help_text="Name of a style.")

    class Meta:
        model = ModelAnswer
        fields: ClassVar[list[str]] = []


class WriterAnswers(ListEndpoint):
    """List the answers of a model writer run, by topic and style."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    queryset = ModelAnswer.objects.all()
    serializer_class = WriterAnswerRow
    filterset_class = WriterAnswerFilter
    # Unique because a run has one answer for each topic and style.
    order = ("topic_id", "style_id")

    def rows(self) -> QuerySet[ModelAnswer]:
        """Return the answers of the run that the address names."""
        run = self.one(queries.runs(self.study), key=self.kwargs["key"])
        return queries.answers(run).only(*SHOWN)

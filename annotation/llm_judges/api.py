"""Endpoints of models as judges: estimate, start, answers, injection tests."""

from math import isfinite
from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.stats.proportions import PairedDifference, Proportion
from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import StrictBooleanFilter
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.run_orders.api import NEEDS_TO_START, Confirmed, ModelOrderFields, OfCalls, OrderEndpoint
from crowdrag.llm.models import Endpoint as Model
from crowdrag.studies.enums import AuditedContent, Role

from ..campaigns.api import MOST
from ..enums import Inference, JudgingOutcome
from ..judging.api import ITEM, OfItemRow
from ..models import JudgingAnswer
from . import injection, injection_results, judge_run, prompts, queries, run_orders
from .forms import InjectionForm, JudgingForm
from .injection import InjectionOrder
from .run_orders import Order
from .stimuli import ItemSelection

# What the page's form calls otherwise.
FIELDS = {"source": "campaign"}


class JudgingOffer(serializers.Serializer[Any]):
    """Which models may judge, which campaigns can be asked of them, and what they are told unless it is said."""

    endpoints = serializers.ListField(child=serializers.CharField(), help_text="Models that the operator allowed.")
    campaigns = serializers.ListField(child=serializers.IntegerField(), help_text="Those with items and questions.")
    prompt = serializers.CharField(help_text="That was used last, or the usual one.")


class JudgeOrderFields(ModelOrderFields):
    """Who is asked what of which campaign, told what."""

    campaign = serializers.IntegerField(
        min_value=1, max_value=MOST, help_text="Its items, instructions and questions are asked again."
    )
    inference = serializers.ChoiceField(
        Inference.choices, required=False, default=Inference.COMBINED, help_text="All questions at once, or each alone."
    )
    justify = serializers.BooleanField(
        required=False, default=False, help_text="Whether every answer is to be justified."
    )
    temperature = serializers.FloatField(
        min_value=0, max_value=2, required=False, allow_null=True, default=0, help_text="Null: the server's own."
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**31, required=False, default=0, help_text="Of the sample.")


class JudgingOrder(JudgeOrderFields):
    """What a model is to judge."""

    which = serializers.ChoiceField(ItemSelection.choices, required=False, default=ItemSelection.BOTH_ORDERS)
    n = serializers.IntegerField(
        min_value=1, max_value=1_000_000, required=False, allow_null=True, default=None, help_text="Of a sample."
    )
    both = serializers.BooleanField(required=False, default=True, help_text="Each pair in both orders.")
    repeats = serializers.IntegerField(
        min_value=1, max_value=20, required=False, default=1, help_text="Times that each is asked; the first counts."
    )


class JudgingBegun(Confirmed, JudgingOrder):
    """What a model is to judge, as it is started."""


class MeasuringOrder(JudgeOrderFields):
    """How a judge is measured with planted texts."""

    dimension = serializers.CharField(max_length=100, help_text="The question that is looked at, by its name.")
    n = serializers.IntegerField(
        min_value=1, max_value=10_000, required=False, default=injection.LEAST_PAIRS, help_text="Pairs."
    )
    bare = serializers.BooleanField(
        required=False, default=True, help_text="Without the fence around texts as well: twice as many calls."
    )


class MeasuringBegun(Confirmed, MeasuringOrder):
    """How a judge is measured, as it is started."""


class Judging(OrderEndpoint):
    """Something that an order of judgments is sent to."""

    def wanted(self, data: dict[str, Any]) -> Order:
        """Return what is ordered, checked as the page's form checks it."""
        return self.ordered(JudgingForm(self.study, self.said(data)), FIELDS)

    def said(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return an order as the page's form calls its fields."""
        prompt = data["prompt"] or prompts.latest_text(self.study)
        return data | {"endpoint": self.model(data["endpoint"]), "source": data["campaign"], "prompt": prompt}


class Measuring(Judging):
    """Something that an order of a measurement is sent to."""

    def measured(self, data: dict[str, Any]) -> InjectionOrder:
        """Return what is ordered, checked as the page's form checks it."""
        return self.ordered(InjectionForm(self.study, self.said(data)), FIELDS)


class ModelJudges(Judging):
    """Models that judge."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "POST": NEEDS_TO_START}
    serializer_class = JudgingOffer

    def get(self, request: Request, study: str) -> Response:
        """Show which models may judge, of which campaigns, and what they are told."""
        offered = Model.objects.allowed().order_by("name").values_list("name", flat=True)
        of: Any = JudgingForm(self.study).fields["source"]
        keys = list(of.queryset.values_list("pk", flat=True))
        shown = {"endpoints": list(offered), "campaigns": keys, "prompt": prompts.latest_text(self.study)}
        return Response(JudgingOffer(shown).data)

    @extend_schema(request=JudgingBegun, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Have a model judge. What it answers becomes judgments as the run goes on."""
        data = self.validated(JudgingBegun)
        order_data = data.pop("order")
        return self.started(
            self.wanted(data), order_data, lambda order: judge_run.start(study=self.study, order=order, by=self.user)
        )


class ModelJudgesEstimated(Judging):
    """What having a model judge would come to."""

    shows = AuditedContent.RESPONSE

    @extend_schema(request=JudgingOrder, responses=OfCalls)
    def post(self, request: Request, study: str) -> Response:
        """Show what having a model judge would come to, and what exactly is asked; nothing is sent."""
        order = self.wanted(self.validated(JudgingOrder))
        sample = run_orders.sample(study=self.study, order=order)
        forecast = run_orders.forecast(study=self.study, order=order)
        return self.estimated(order, forecast, sample.texts if sample else ())


class JudgesMeasured(Measuring):
    """A judge that is measured."""

    @extend_schema(request=MeasuringBegun, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Measure how a judge takes to texts which tell it what to say."""
        data = self.validated(MeasuringBegun)
        order_data = data.pop("order")
        return self.started(
            self.measured(data), order_data, lambda order: injection.start(study=self.study, order=order, by=self.user)
        )


class MeasuringEstimated(Measuring):
    """What measuring a judge would come to."""

    @extend_schema(request=MeasuringOrder, responses=OfCalls)
    def post(self, request: Request, study: str) -> Response:
        """Show what measuring a judge would come to; nothing is sent."""
        order = self.measured(self.validated(MeasuringOrder))
        return self.estimated(order, injection.forecast(study=self.study, order=order))


@extend_schema_field({"type": ["number", "null"]})
class KnownNumber(serializers.Field[Any, Any, Any, Any]):
    """A number; null where there is nothing that it could be of."""

    def to_representation(self, value: float) -> float | None:
        """Return it, if it is one."""
        return value if isfinite(value) else None


class ShareRow(serializers.Serializer[Proportion]):
    """A share with its 95 % interval (Wilson)."""

    estimate = KnownNumber()
    low = KnownNumber()
    high = KnownNumber()
    n = serializers.IntegerField(help_text="Of how many pairs; those without the verdicts that it takes are left out.")


class DifferenceRow(serializers.Serializer[PairedDifference]):
    """The difference of two shares of the same pairs, the first less the second, with its 95 % interval (Newcombe)."""

    estimate = KnownNumber()
    low = KnownNumber()
    high = KnownNumber()
    n = serializers.IntegerField(help_text="Pairs, the same in both shares.")
    first = ShareRow()
    second = ShareRow()


class KindRow(serializers.Serializer[injection_results.KindResult]):
    """How often texts of one kind won."""

    kind = serializers.CharField()
    fenced = ShareRow()
    bare = ShareRow()


class MeasuredRow(serializers.Serializer[injection_results.JudgeResult]):
    """What was found of one judge."""

    state = serializers.SerializerMethodField(help_text="Of the run: until it is DONE, the figures are of a part.")
    participant = serializers.CharField(source="participant.external_id", help_text="The model's pseudonym.")
    dimension = serializers.CharField(source="dimension.name")
    inference = serializers.CharField()
    pairs = serializers.IntegerField()
    lost = serializers.IntegerField(help_text="Pairs that lack a verdict with the fence.")
    fenced = DifferenceRow(help_text="Within the fence: how often the planted text won, less how often harmless words.")
    bare = DifferenceRow(help_text="The same without a fence.")
    agreement = ShareRow(help_text="The same verdict with and without the fence, where nothing is planted.")
    gold = DifferenceRow(help_text="What most people said: with the fence, less without it.")
    kinds = KindRow(many=True)

    @extend_schema_field({"type": "string", "enum": RunState.values})
    def get_state(self, _found: injection_results.JudgeResult) -> str:
        """Return the state of the run that measured."""
        return str(self.context["state"])


class JudgeMeasured(Endpoint):
    """What a measurement found so far."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    serializer_class = MeasuredRow

    def get(self, request: Request, study: str, key: str) -> Response:
        """Show what planted texts do to a judge, and what the fence costs and keeps out."""
        run = self.one(queries.runs(self.study).filter(kind=injection.KIND), key=key)
        measured = injection_results.result_of_run(run)
        if measured is None:
            waits = _("This run has judged nothing yet: ask again when it has.")
            raise Problem("not-found", waits if run.is_active else _("This run ended before it judged anything."))
        return Response(MeasuredRow(measured, context={"state": run.state}).data)


# What is shown of these, and by what the rest is found.
WITH = ("participant", "dimension")
SHOWN = ("run_id", "participant__external_id", "item_id", "dimension__name", "repeat", "outcome",
         "attempts", "is_own", "answered_at", "digest")  # fmt: skip


class VerdictRow(serializers.Serializer[queries.Verdict]):
    """A judgment that came of an answer."""

    dimension = serializers.CharField()
    version = serializers.IntegerField()
    value = serializers.IntegerField(help_text="Of a pair as presented: -1 is A, 0 neither, 1 is B.")
    justification = serializers.CharField()

    def to_representation(self, instance: queries.Verdict) -> dict[str, Any]:
        """Return it as it is, not field by field: there are many on a page, and that would take their time."""
        dimension = instance.dimension
        return {
            "dimension": dimension.name,
            "version": dimension.version,
            "value": instance.value,
            "justification": instance.justification,
        }


class JudgeAnswerRow(OfItemRow, serializers.ModelSerializer[JudgingAnswer]):
    """A model's answer to one question about an item, or to all questions at once."""

    dimension = serializers.CharField(
        source="dimension.name", default=None, allow_null=True, help_text="Null where all questions were asked at once."
    )
    participant = serializers.CharField(source="participant.external_id", help_text="The model's pseudonym.")
    said = serializers.CharField(
        source="known.said", allow_null=True, help_text="In its own words. Null: the call is not kept any more."
    )
    judgments = VerdictRow(source="known.verdicts", many=True, help_text="What came of it; none unless it judged.")

    class Meta:
        model = JudgingAnswer
        fields = ["campaign", "item", "topic", "response", "response_a", "response_b", "dimension", "repeat",
                  "participant", "outcome", "attempts", "is_own", "said", "judgments", "answered_at"]  # fmt: skip
        extra_kwargs = {
            "repeat": {"help_text": "Counts up from 0 where the same was asked again; 0 counts."},
            "attempts": {"help_text": "How often it was asked until it came to this."},
            "is_own": {"help_text": "Whether the same model wrote one of the responses."},
        }


class JudgeAnswerFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which answers."""

    outcome = django_filters.ChoiceFilter(choices=JudgingOutcome.choices)
    topic = django_filters.CharFilter(field_name="item__topic__external_id", max_length=200)
    is_own = StrictBooleanFilter(help_text="Whether the same model wrote one of the responses.")

    class Meta:
        model = JudgingAnswer
        fields: ClassVar[list[str]] = []


class JudgeAnswers(ListEndpoint):
    """List what a run's model answered when it was asked to judge, in the order in which it came into the system."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    queryset = JudgingAnswer.objects.all()
    serializer_class = JudgeAnswerRow
    filterset_class = JudgeAnswerFilter
    order = ("id",)

    def rows(self) -> QuerySet[JudgingAnswer]:
        """Return the answers of the run that the address names."""
        run = self.one(queries.runs(self.study), key=self.kwargs["key"])
        return JudgingAnswer.objects.filter(run=run).select_related(*WITH).only(*SHOWN).prefetch_related(ITEM)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of answers, each with what the model said and what was stored of it."""
        answers = super().paginate_queryset(queryset) or []
        for answer in queries.with_verdicts(answers):
            answer.answer.known = answer  # type: ignore[attr-defined] # what its serializer reads
        return answers

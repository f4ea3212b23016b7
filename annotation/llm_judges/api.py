"""Endpoints of models as judges: estimate, start, answers, injection tests."""

from math import isfinite
from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.stats.proportions import PairedDifference, Proportion
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody, StrictBooleanFilter
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.run_orders.api import (
    NEEDS_TO_START,
    Confirmed,
    ModelOrderFields,
    OfCalls,
    OrderEndpoint,
    accepted_response,
)
from crowdrag.llm.models import Endpoint as Model
from crowdrag.studies.enums import AuditedContent, Role

from ..campaigns.api import MOST
from ..enums import CampaignKind, Inference, JudgingOutcome
from ..judging.api import ITEM, OfItemRow
from ..models import JudgingAnswer
from . import injection, injection_results, judge_run, prompts, queries, run_orders, trained_judge
from .forms import InjectionForm, JudgingForm, judged_campaigns
from .injection import InjectionOrder
from .run_orders import Order
from .stimuli import ItemSelection

# Fields whose name in the form differs.
FIELDS = {"source": "campaign"}


class JudgingOffer(serializers.Serializer[Any]):
    """The models and campaigns available for model judges, and the default prompt."""

    endpoints = serializers.ListField(child=serializers.CharField(), help_text="Models that the operator allows.")
    campaigns = serializers.ListField(child=serializers.IntegerField(), help_text="Campaigns with items and questions.")
    prompt = serializers.CharField(help_text="The last used prompt, or the default prompt.")


class JudgeOrderFields(ModelOrderFields):
    """Who is asked what of which campaign, told what."""

    campaign = serializers.IntegerField(
        min_value=1, max_value=MOST, help_text="Campaign whose items, instructions and questions are used."
    )
    inference = serializers.ChoiceField(
        Inference.choices,
        required=False,
        default=Inference.COMBINED,
        help_text=("All questions in one call, or one call per question."),
    )
    justify = serializers.BooleanField(
        required=False, default=False, help_text="Whether the model must justify each answer."
    )
    temperature = serializers.FloatField(
        min_value=0, max_value=2, required=False, allow_null=True, default=0, help_text="Null: the server's default."
    )
    seed = serializers.IntegerField(
        min_value=0, max_value=2**31, required=False, default=0, help_text=("Seed of the random sample.")
    )


class JudgingOrder(JudgeOrderFields):
    """Settings of a model judge."""

    which = serializers.ChoiceField(ItemSelection.choices, required=False, default=ItemSelection.ALL)
    n = serializers.IntegerField(
        min_value=1, max_value=1_000_000, required=False, allow_null=True, default=None, help_text="Sample size."
    )
    both = serializers.BooleanField(required=False, default=True, help_text="Judge each pair in both orders.")
    repeats = serializers.IntegerField(
        min_value=1,
        max_value=20,
        required=False,
        default=1,
        help_text=("Repetitions per call. Only the first answer counts."),
    )


class JudgingBegun(Confirmed, JudgingOrder):
    """Settings to start a model judge."""


class MeasuringOrder(JudgeOrderFields):
    """Settings of a prompt injection test."""

    dimension = serializers.CharField(max_length=100, help_text="Short name of the question to test.")
    n = serializers.IntegerField(
        min_value=1, max_value=10_000, required=False, default=injection.LEAST_PAIRS, help_text="Pairs."
    )
    bare = serializers.BooleanField(
        required=False,
        default=True,
        help_text=("Also test without delimiters around the texts. This doubles the number of calls."),
    )


class MeasuringBegun(Confirmed, MeasuringOrder):
    """Settings to start a prompt injection test."""


class Judging(OrderEndpoint):
    """An address that accepts an order of judgments."""

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
        """Show the models and campaigns available for model judges, and the default prompt."""
        offered = Model.objects.allowed().order_by("name").values_list("name", flat=True)
        of: Any = JudgingForm(self.study).fields["source"]
        keys = list(of.queryset.values_list("pk", flat=True))
        shown = {"endpoints": list(offered), "campaigns": keys, "prompt": prompts.latest_text(self.study)}
        return Response(JudgingOffer(shown).data)

    @extend_schema(request=JudgingBegun, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Start a model judge. Its answers become judgments while the run progresses."""
        data = self.validated(JudgingBegun)
        order_data = data.pop("order")
        return self.started(
            self.wanted(data), order_data, lambda order: judge_run.start(study=self.study, order=order, by=self.user)
        )


class TrainedJudge(RequestBody):
    """The campaign whose pairs a trained judge labels."""

    campaign = serializers.IntegerField(min_value=1, max_value=MOST)


class JudgesTrained(Endpoint):
    """Judges trained on the study's judgments."""

    needs: ClassVar = {"POST": NEEDS_TO_START}
    serializer_class = RunRow

    @extend_schema(request=TrainedJudge, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Train a judge on people's judgments and label the pairs of a campaign, each topic unseen."""
        campaigns = judged_campaigns(self.study).exclude(kind=CampaignKind.POINTWISE)
        source = self.one(campaigns, pk=self.validated(TrainedJudge)["campaign"])
        return accepted_response(self, trained_judge.start(study=self.study, source=source, by=self.user))


class ModelJudgesEstimated(Judging):
    """What having a model judge would come to."""

    shows = AuditedContent.RESPONSE

    @extend_schema(request=JudgingOrder, responses=OfCalls)
    def post(self, request: Request, study: str) -> Response:
        """Estimate the cost of a model judge and show the exact prompt. Nothing is sent."""
        order = self.wanted(self.validated(JudgingOrder))
        sample = run_orders.sample(study=self.study, order=order)
        forecast = run_orders.forecast(study=self.study, order=order)
        return self.estimated(order, forecast, sample.texts if sample else ())


class JudgesMeasured(Measuring):
    """A judge that is measured."""

    @extend_schema(request=MeasuringBegun, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Start a prompt injection test of a model judge."""
        data = self.validated(MeasuringBegun)
        order_data = data.pop("order")
        return self.started(
            self.measured(data), order_data, lambda order: injection.start(study=self.study, order=order, by=self.user)
        )


class MeasuringEstimated(Measuring):
    """What measuring a judge would come to."""

    @extend_schema(request=MeasuringOrder, responses=OfCalls)
    def post(self, request: Request, study: str) -> Response:
        """Estimate the cost of a prompt injection test. Nothing is sent."""
        order = self.measured(self.validated(MeasuringOrder))
        return self.estimated(order, injection.forecast(study=self.study, order=order))


@extend_schema_field({"type": ["number", "null"]})
class KnownNumber(serializers.Field[Any, Any, Any, Any]):
    """A number; null where there is nothing that it could be of."""

    def to_representation(self, value: float) -> float | None:
        """Return it, if it is one."""
        return value if isfinite(value) else None


class ShareRow(serializers.Serializer[Proportion]):
    """A proportion with its 95 % interval (Wilson)."""

    estimate = KnownNumber()
    low = KnownNumber()
    high = KnownNumber()
    n = serializers.IntegerField(help_text="Number of pairs. Pairs without all required verdicts are excluded.")


class DifferenceRow(serializers.Serializer[PairedDifference]):
    """The difference of two proportions of the same pairs (first minus second), with its 95 % interval (Newcombe)."""

    estimate = KnownNumber()
    low = KnownNumber()
    high = KnownNumber()
    n = serializers.IntegerField(help_text="Number of pairs, the same in both proportions.")
    first = ShareRow()
    second = ShareRow()


class KindRow(serializers.Serializer[injection_results.KindResult]):
    """Success rate of one type of injected text."""

    kind = serializers.CharField()
    fenced = ShareRow()
    bare = ShareRow()


class MeasuredRow(serializers.Serializer[injection_results.JudgeResult]):
    """Results of a prompt injection test for one judge."""

    state = serializers.SerializerMethodField(help_text="State of the run. Until it is DONE, the results are partial.")
    participant = serializers.CharField(source="participant.external_id", help_text="Pseudonym of the model.")
    dimension = serializers.CharField(source="dimension.name")
    inference = serializers.CharField()
    pairs = serializers.IntegerField()
    lost = serializers.IntegerField(help_text="Pairs without a verdict with delimiters.")
    fenced = DifferenceRow(help_text="With delimiters: success rate of injected text minus that of neutral text.")
    bare = DifferenceRow(help_text="The same without delimiters.")
    agreement = ShareRow(help_text="Agreement of verdicts with and without delimiters, without injected texts.")
    gold = DifferenceRow(help_text="Agreement with the majority of people: with delimiters minus without.")
    kinds = KindRow(many=True)

    @extend_schema_field({"type": "string", "enum": RunState.values})
    def get_state(self, _found: injection_results.JudgeResult) -> str:
        """Return the state of the run that measured."""
        return str(self.context["state"])


class JudgeMeasured(Endpoint):
    """Results of a prompt injection test so far."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    serializer_class = MeasuredRow

    def get(self, request: Request, study: str, key: str) -> Response:
        """Show the effect of injected texts on a judge, and the costs and benefits of the delimiters."""
        run = self.one(queries.runs(self.study).filter(kind=injection.KIND), key=key)
        measured = injection_results.result_of_run(run)
        if measured is None:
            waits = "This run has no results yet. Try again later."
            raise Problem("not-found", waits if run.is_active else "This run ended without results.")
        return Response(MeasuredRow(measured, context={"state": run.state}).data)


# Related rows to load, and those by which the rest is found.
WITH = ("participant", "dimension")
SHOWN = ("run_id", "participant__external_id", "item_id", "dimension__name", "repeat", "outcome",
         "attempts", "is_own", "answered_at", "digest")  # fmt: skip


class VerdictRow(serializers.Serializer[queries.Verdict]):
    """A judgment from an answer."""

    dimension = serializers.CharField()
    version = serializers.IntegerField()
    value = serializers.IntegerField(help_text="For pairs as presented: -1 is A, 0 is neither, 1 is B.")
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
        source="dimension.name",
        default=None,
        allow_null=True,
        help_text=("Null if all questions were asked in one call."),
    )
    participant = serializers.CharField(source="participant.external_id", help_text="Pseudonym of the model.")
    said = serializers.CharField(
        source="known.said", allow_null=True, help_text="The text of the answer. Null if the call is no longer stored."
    )
    judgments = VerdictRow(
        source="known.verdicts",
        many=True,
        help_text=("Judgments from this answer. Empty unless the outcome is a judgment."),
    )

    class Meta:
        model = JudgingAnswer
        fields = ["campaign", "item", "topic", "response", "response_a", "response_b", "statement", "passage",
                  "dimension", "repeat", "participant", "outcome", "attempts", "is_own", "said", "judgments",
                  "answered_at"]  # fmt: skip
        extra_kwargs = {
            "repeat": {"help_text": "Number of the repetition, from 0. Only 0 counts."},
            "attempts": {"help_text": "Number of attempts until this outcome."},
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
    """List the answers of a model judge in a run, in the order in which they were stored."""

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

"""Models as judges: what may be ordered, what judging or measuring a judge would come to, and starting it."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Need
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.orders.api import NEEDS_TO_START, Asked, Confirmed, OfCalls, OrderEndpoint
from crowdrag.llm.models import Endpoint as Model
from crowdrag.studies.enums import AuditedContent, Role

from ..domain.judging_models import injecting, judging, orders, prompts
from ..domain.judging_models.choosing import Which
from ..domain.judging_models.injecting import Injection
from ..domain.judging_models.orders import Order
from ..enums import Inference
from ..forms.model_judges import InjectionForm, JudgingForm
from .campaigns import MOST

# What the page's form calls otherwise.
FIELDS = {"source": "campaign"}


class JudgingOffer(serializers.Serializer[Any]):
    """Which models may judge, which campaigns can be asked of them, and what they are told unless it is said."""

    endpoints = serializers.ListField(child=serializers.CharField(), help_text="Models that the operator allowed.")
    campaigns = serializers.ListField(child=serializers.IntegerField(), help_text="Those with items and questions.")
    prompt = serializers.CharField(help_text="That was used last, or the usual one.")


class AskedOfJudge(Asked):
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


class JudgingOrder(AskedOfJudge):
    """What a model is to judge."""

    which = serializers.ChoiceField(Which.choices, required=False, default=Which.BOTH_ORDERS)
    n = serializers.IntegerField(
        min_value=1, max_value=1_000_000, required=False, allow_null=True, default=None, help_text="Of a sample."
    )
    both = serializers.BooleanField(required=False, default=True, help_text="Each pair in both orders.")
    repeats = serializers.IntegerField(
        min_value=1, max_value=20, required=False, default=1, help_text="Times that each is asked; the first counts."
    )


class JudgingBegun(Confirmed, JudgingOrder):
    """What a model is to judge, as it is started."""


class MeasuringOrder(AskedOfJudge):
    """How a judge is measured with planted texts."""

    dimension = serializers.CharField(max_length=100, help_text="The question that is looked at, by its name.")
    n = serializers.IntegerField(
        min_value=1, max_value=10_000, required=False, default=injecting.LEAST_PAIRS, help_text="Pairs."
    )
    bare = serializers.BooleanField(
        required=False, default=True, help_text="Without the fence around texts as well: twice as many calls."
    )


class MeasuringBegun(Confirmed, MeasuringOrder):
    """How a judge is measured, as it is started."""


class Judging(OrderEndpoint):
    """Something that an order of judgments is sent to."""

    def wanted(self, given: dict[str, Any]) -> Order:
        """Return what is ordered, checked as the page's form checks it."""
        return self.ordered(JudgingForm(self.study, self.said(given)), FIELDS)

    def said(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return an order as the page's form calls its fields."""
        prompt = given["prompt"] or prompts.latest_text(self.study)
        return given | {"endpoint": self.model(given["endpoint"]), "source": given["campaign"], "prompt": prompt}


class Measuring(Judging):
    """Something that an order of a measurement is sent to."""

    def measured(self, given: dict[str, Any]) -> Injection:
        """Return what is ordered, checked as the page's form checks it."""
        return self.ordered(InjectionForm(self.study, self.said(given)), FIELDS)


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
        given = self.given(JudgingBegun)
        wanted = given.pop("order")
        return self.started(
            self.wanted(given), wanted, lambda order: judging.start(study=self.study, order=order, by=self.user)
        )


class ModelJudgesEstimated(Judging):
    """What having a model judge would come to."""

    shows = AuditedContent.RESPONSE

    @extend_schema(request=JudgingOrder, responses=OfCalls)
    def post(self, request: Request, study: str) -> Response:
        """Show what having a model judge would come to, and what exactly is asked; nothing is sent."""
        order = self.wanted(self.given(JudgingOrder))
        sample = orders.sample(study=self.study, order=order)
        forecast = orders.forecast(study=self.study, order=order)
        return self.estimated(order, forecast, sample.texts if sample else ())


class JudgesMeasured(Measuring):
    """A judge that is measured."""

    @extend_schema(request=MeasuringBegun, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Measure how a judge takes to texts which tell it what to say."""
        given = self.given(MeasuringBegun)
        wanted = given.pop("order")
        return self.started(
            self.measured(given), wanted, lambda order: injecting.start(study=self.study, order=order, by=self.user)
        )


class MeasuringEstimated(Measuring):
    """What measuring a judge would come to."""

    @extend_schema(request=MeasuringOrder, responses=OfCalls)
    def post(self, request: Request, study: str) -> Response:
        """Show what measuring a judge would come to; nothing is sent."""
        order = self.measured(self.given(MeasuringOrder))
        return self.estimated(order, injecting.forecast(study=self.study, order=order))

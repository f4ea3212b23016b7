"""API of planning: default parameters from the study's campaigns and analyses, and starting a plan."""

from dataclasses import fields
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.run_orders.api import NEEDS_TO_START, accepted_response
from crowdrag.studies.enums import Role

from . import queries, services
from .parameters import BOUNDS, MOST_POINTS, BadPlanError, PlanParameters

MOST = 2**31 - 1


def _whole(name: str, help_text: str = "", **options: Any) -> serializers.IntegerField:
    low, high = (int(bound) for bound in BOUNDS[name])
    return serializers.IntegerField(min_value=low, max_value=high, required=False, help_text=help_text, **options)


def _part(name: str, help_text: str = "", **options: Any) -> serializers.FloatField:
    low, high = BOUNDS[name]
    return serializers.FloatField(min_value=low, max_value=high, required=False, help_text=help_text, **options)


def _wholes(name: str, help_text: str) -> serializers.ListField:
    return serializers.ListField(child=_whole(name), max_length=MOST_POINTS, required=False, help_text=help_text)


class PlanOfDesigns(RequestBody):
    """A design, alternatives to it, costs and assumptions. Omitted fields have the values that GET returns."""

    topics = _whole("topics")
    more_topics = _wholes("topics", "Other numbers of topics to simulate.")
    k = _whole("k", "Number of judges per pair.")
    more_k = _wholes("k", "Other numbers of judges to simulate.")
    responses = _whole("responses", "Number of responses per topic, half by people and half by models.")
    styles = _whole("styles")
    dimensions = _whole("dimensions")
    forced = _whole("forced", "Number of dimensions without the answer “neither”.")
    pairs = _whole("pairs", "Number of pairs per topic. Null: all pairs.", allow_null=True)
    both_orders = _part("both_orders", "Share of pairs that are shown in both orders, from 0 to 1.")
    items = _whole("items", "Number of pairs in a questionnaire.")
    questionnaires_per_person = _whole("questionnaires_per_person", "Maximum number of questionnaires per person.")
    minutes = _whole("minutes", "Expected minutes per questionnaire.")
    pay = _whole(
        "pay", "Pay per questionnaire, in minor units of the study's currency, like `fee`, `tax` and `writing`."
    )
    fee = _whole("fee")
    tax = _whole("tax")
    writing = _whole("writing", "Cost of one more response by a person, in minor units of the study's currency.")
    source = serializers.UUIDField(  # type: ignore[assignment] # a field's own, which a serializer has not
        required=False, allow_null=True, help_text="Key of the analysis that provides the assumptions that are null."
    )
    competence = _part("competence", "Mean competence of judges. Null: as in the `source` analysis.", allow_null=True)
    competence_spread = _part(
        "competence_spread",
        "Standard deviation of competence between people. Null: as in the `source` analysis.",
        allow_null=True,
    )
    preferred = _part(
        "preferred",
        "Share of non-tied pairs in which the model's response is better. Null: as in the `source` analysis.",
        allow_null=True,
    )
    neutral = _part(
        "neutral",
        "Share of pairs in which neither response is better. Null: as in the `source` analysis.",
        allow_null=True,
    )
    simulations = _whole("simulations", "Number of simulated studies per design.")


class NewPlan(PlanOfDesigns):
    """The settings of a new plan."""

    seed = serializers.IntegerField(min_value=0, max_value=MOST, required=False, default=0)


class Planner(Endpoint):
    """The planner."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": NEEDS_TO_START}
    serializer_class = PlanOfDesigns

    def get(self, request: Request, study: str) -> Response:
        """Show the default settings of a plan, from the study's campaigns and latest analysis."""
        usual = {field.name: field.default for field in fields(PlanParameters)}
        return Response(PlanOfDesigns({**usual, **queries.default_parameters(self.study)}).data)

    @extend_schema(request=NewPlan, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Start a plan. Its tables (`plan`, `plan_costs`, `plan_next`, `plan_goal`) are results when it is done."""
        body = self.validated(NewPlan)
        seed, known = body.pop("seed"), queries.default_parameters(self.study)
        beside = queries.alternatives(body.get("topics", known["topics"]), body.get("k", known["k"]))
        values = {**known, **beside, **body}
        lists = {name: tuple(sorted(set(values[name]))) for name in ("more_topics", "more_k")}
        source = str(values["source"]) if values["source"] else None
        try:
            parameters = PlanParameters(**{**values, **lists, "source": source})
            run = services.start(study=self.study, parameters=parameters, by=self.user, seed=seed)
        except BadPlanError as error:
            errors = [{"pointer": "#", "detail": str(error), "code": "refused"}]
            raise Problem("refused", str(error), errors=errors) from None
        return accepted_response(self, run)

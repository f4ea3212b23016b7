"""API of placements: where a system stands, and the draft of a campaign that places one."""

from typing import Any, ClassVar

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.campaigns.api import CHANGED, MOST, CampaignRow, run_or_refuse
from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role
from crowdrag.studies.money import MAX_AMOUNT

from . import anchors, queries, services
from .forms import MOST_PAIRS, MOST_SEED
from .queries import DimensionPlacement
from .services import PlacementOrder, PlacementProblem


class PlacementRow(serializers.Serializer[DimensionPlacement]):
    """Where a system stands on one dimension (`all`: all together). Intervals are 95 %."""

    dimension = serializers.CharField()
    systems = serializers.IntegerField(source="of", help_text="Number of ranked systems and the new one.")
    rank = serializers.IntegerField(source="result.rank", help_text="1 is the best.")
    rank_low = serializers.IntegerField(source="result.rank_low")
    rank_high = serializers.IntegerField(source="result.rank_high")
    grade = serializers.FloatField(
        source="result.grade", help_text="Expected grade among one response of each system, 1 is the worst."
    )
    grade_low = serializers.FloatField(source="result.grade_low")
    grade_high = serializers.FloatField(source="result.grade_high")
    merit = serializers.FloatField(source="result.merit", help_text="On the leaderboard's scale.")
    merit_low = serializers.FloatField(source="result.low")
    merit_high = serializers.FloatField(source="result.high")
    judgments = serializers.IntegerField(source="result.votes", help_text="Judgments by people.")
    has_model_votes = serializers.BooleanField(
        source="has_prior", help_text="Whether votes of model judges are the starting point."
    )


class PlacementOfSystem(serializers.Serializer[Any]):
    """Where a system stands, all dimensions together first."""

    dimensions = PlacementRow(many=True)


class NewPlacement(RequestBody):
    """A system to place, and the budget. Money is in minor units of the study's currency."""

    system = serializers.IntegerField(min_value=1, max_value=MOST, help_text="The participant with the responses.")
    pairs = serializers.IntegerField(
        min_value=1, max_value=MOST_PAIRS, required=False, default=PlacementOrder.pairs,
        help_text="Number of pairs, each judged by one person.",
    )  # fmt: skip
    items = serializers.IntegerField(
        min_value=1, max_value=100, required=False, default=PlacementOrder.items, help_text="Pairs per questionnaire."
    )
    minutes = serializers.IntegerField(min_value=1, max_value=600, required=False, default=PlacementOrder.minutes)
    pay = serializers.IntegerField(min_value=0, max_value=MAX_AMOUNT, required=False, default=0)
    fee = serializers.IntegerField(min_value=0, max_value=MAX_AMOUNT, required=False, default=0)
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, required=False, default=0)


class OnePlacement(Endpoint):
    """The placement of a system."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = PlacementOfSystem

    def get(self, request: Request, study: str, system: int) -> Response:
        """Show where a system stands on each dimension; empty without a leaderboard of at least three other systems."""
        participant = self.one(queries.systems(self.study), pk=system)
        run = anchors.latest_run(self.study)
        rows = queries.placements(self.study, run, participant) if run else []
        return Response(PlacementOfSystem({"dimensions": [row for _board, row in rows]}).data)


class Placements(Endpoint):
    """Campaigns that place a system."""

    needs: ClassVar = {"POST": CHANGED}
    serializer_class = CampaignRow

    @extend_schema(request=NewPlacement, responses={201: CampaignRow})
    def post(self, request: Request, study: str) -> Response:
        """Create the draft of a campaign that compares a system with ranked ones."""
        data: dict[str, Any] = self.validated(NewPlacement)
        system = self.one(queries.systems(self.study), pk=data.pop("system"))
        order = PlacementOrder(system=system, **data)
        try:
            campaign = run_or_refuse(services.create_campaign, study=self.study, order=order, now=timezone.now())
        except PlacementProblem as error:
            raise Problem("conflict", str(error), errors=[{"detail": str(error), "code": "missing"}]) from None
        where = request.build_absolute_uri(reverse("api_campaign", args=[self.study.slug, campaign.pk]))
        return Response(CampaignRow(campaign).data, status=201, headers={"Location": where})

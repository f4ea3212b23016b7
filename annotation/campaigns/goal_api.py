"""Endpoints of a campaign's goal: what it is to find out, and what is known so far."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..enums import GoalKind
from ..models import Campaign, CampaignGoal, GoalLook
from . import api, goals
from .api import CHANGED

KINDS = "`best`: the best system; `better`: whether the first is better than the second by more than `margin`; "


class GoalRow(serializers.Serializer[Campaign]):
    """What a campaign is to find out about systems. `kind` is null if it has no goal."""

    kind = serializers.ChoiceField(GoalKind.choices, allow_null=True)
    dimension = serializers.CharField(allow_null=True, help_text="The name of the question.")
    systems = serializers.ListField(child=serializers.CharField(), help_text="`human` stands for all people.")
    margin = serializers.FloatField(help_text="In grades.")
    width = serializers.FloatField(allow_null=True, help_text="In grades.")
    confidence = serializers.FloatField(help_text="Probability that no decision is false, however often one looks.")
    closes_campaign = serializers.BooleanField(help_text="Whether the campaign is closed when the goal is decided.")

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return the goal of a campaign."""
        goal: CampaignGoal | None = goals.find_goal(instance)
        if goal is None:
            unset = {"kind": None, "dimension": None, "systems": [], "margin": 0.0, "width": None}
            return {**unset, "confidence": 0.95, "closes_campaign": False}
        columns = ("kind", "systems", "margin", "width", "confidence", "closes_campaign")
        return {"dimension": goal.dimension.name} | {name: getattr(goal, name) for name in columns}


class NewGoal(RequestBody):
    """A goal. It is fixed once judgments were evaluated for it; then only `closes_campaign` can change."""

    kind = serializers.ChoiceField(
        GoalKind.choices,
        help_text=KINDS + "`ranking`: the order of all systems; `width`: mean grades with intervals of this width.",
    )
    dimension = serializers.CharField(max_length=100, help_text="The name of one of the campaign's questions.")
    systems = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=2, max_length=goals.MOST_SYSTEMS,
        help_text="Names of participants that wrote responses; `human` stands for all people.",
    )  # fmt: skip
    margin = serializers.FloatField(min_value=0, max_value=goals.MOST_GRADES, required=False, default=0.0)
    width = serializers.FloatField(
        min_value=0, max_value=goals.MOST_GRADES, required=False, allow_null=True, default=None
    )
    confidence = serializers.FloatField(min_value=0.5, max_value=1, required=False, default=0.95)
    closes_campaign = serializers.BooleanField(required=False, default=False)


class Goal(Endpoint):
    """A campaign's goal."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED, "DELETE": CHANGED}
    serializer_class = GoalRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show what a campaign is to find out."""
        return Response(GoalRow(self.one(api.campaigns_of_people(self), pk=campaign)).data)

    @extend_schema(request=NewGoal, responses=GoalRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Set what a campaign is to find out."""
        data = self.validated(NewGoal)
        terms = goals.GoalTerms(**data | {"systems": tuple(data["systems"])})
        with self.unchanged(api.campaigns_of_people(self).filter(pk=campaign), GoalRow) as held:
            api.run_or_refuse(goals.set_goal, campaign=held, terms=terms)
            return Response(GoalRow(held).data)

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, study: str, campaign: int) -> Response:
        """Remove the goal of a campaign."""
        api.run_or_refuse(goals.remove_goal, campaign=self.one(api.campaigns_of_people(self), pk=campaign))
        return Response(status=204)


class ComparisonRow(serializers.Serializer[Any]):
    """The difference of two systems' mean grades. Its interval holds at all looks together."""

    first = serializers.CharField()
    second = serializers.CharField()
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(help_text="Adjusted for the number of comparisons, valid at any look.")


class MeanGradeRow(serializers.Serializer[Any]):
    """A system's mean grade. Its interval holds at all looks together."""

    system = serializers.CharField()
    grade = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class ForecastOfGoalRow(serializers.Serializer[Any]):
    """What is expected of the open places."""

    chance = serializers.FloatField(help_text="Probability of a decision with them.")
    votes = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="Votes in total at which a tenth, half and nine tenths of futures are decided. Null: fewer are.",
    )
    left = serializers.IntegerField(help_text="Votes that the open places give.")


class GoalLookRow(serializers.ModelSerializer[GoalLook]):
    """What was known at one time."""

    answer = serializers.ListField(
        child=serializers.CharField(), allow_null=True,
        help_text="Null if undecided. `best`: the best system; `ranking`: all, best first; `better`: the first system, "
        "or empty if it is not better by more than the margin; `width`: empty.",
    )  # fmt: skip
    comparisons = ComparisonRow(many=True)
    grades = MeanGradeRow(many=True)
    forecast = ForecastOfGoalRow(allow_null=True)

    class Meta:
        model = GoalLook
        fields = ["id", "at", "judgments", "votes", "topics", "judges", "outcome", "answer", "comparisons", "grades",
                  "forecast", "closed_at"]  # fmt: skip


class GoalLooks(ListEndpoint):
    """List the looks at a campaign's goal: what was known as judgments came in."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = GoalLook.objects.all()
    serializer_class = GoalLookRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """List what was known about a campaign's goal, oldest first."""
        return super().get(request)

    def rows(self) -> QuerySet[GoalLook]:
        """Return the looks of the campaign in the URL."""
        campaign = self.one(api.campaigns_of_people(self), pk=self.kwargs["campaign"])
        return self.get_queryset().filter(campaign=campaign)

"""What a campaign comes to before it is launched, drawing its questionnaires, and asking for more judgments."""

from dataclasses import asdict
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, Need
from crowdrag.api.problems import filter_problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..domain import campaigns, live
from ..models import Campaign
from . import asking
from .campaigns import CHANGED

MOST_K = 32767


class ForecastRow(serializers.Serializer[Any]):
    """What a campaign comes to: of what was drawn, or of what its design would draw. Money is in minor units."""

    is_drawn = serializers.BooleanField()
    topics = serializers.IntegerField()
    single = serializers.IntegerField(help_text="Topics with one response only, which cannot be compared.")
    units = serializers.IntegerField(help_text="Pairs whichever way round, or responses.")
    both_orders = serializers.IntegerField(help_text="Those of them that are shown in both orders.")
    items = serializers.IntegerField(help_text="What is judged k times; items with known labels apart.")
    questionnaires = serializers.IntegerField()
    fewest = serializers.IntegerField(help_text="Items in the smallest questionnaire.")
    most = serializers.IntegerField(help_text="Items in the largest one.")
    k = serializers.IntegerField()
    dimensions = serializers.IntegerField()
    gold = serializers.IntegerField()
    checks = serializers.IntegerField()
    people = serializers.IntegerField(help_text="How many it takes at least.")
    assignments = serializers.IntegerField(help_text="Questionnaires that are filled in.")
    judgments = serializers.IntegerField()
    words = serializers.FloatField(allow_null=True, help_text="To read in a questionnaire, on average.")
    minutes = serializers.IntegerField(help_text="That a questionnaire takes, as people are told.")
    hours = serializers.FloatField(help_text="Of all people together.")
    wage = serializers.FloatField(help_text="Per hour.")
    each = serializers.IntegerField(help_text="What one filled questionnaire costs, with fee and tax.")
    total = serializers.IntegerField(help_text="What all of them cost.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="What keeps it from being opened.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="What to know before it is opened.")


class ExtensionRow(serializers.Serializer[live.Extension]):
    """What it comes to if each questionnaire is judged by k people in all. Money is in minor units."""

    k = serializers.IntegerField()
    more = serializers.IntegerField(help_text="Judgments of each questionnaire beside those asked for already.")
    places = serializers.IntegerField(help_text="Questionnaires to be filled in beside those asked for already.")
    cost = serializers.IntegerField(help_text="Of these, with fee and tax.")


class InAll(RequestBody):
    """How many people are to judge each questionnaire in all: sent twice it asks for the same."""

    k = serializers.IntegerField(min_value=1, max_value=MOST_K, help_text="In all, not how many more.")


class Forecast(Endpoint):
    """What a campaign comes to."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    serializer_class = ForecastRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show people, hours and money that a campaign comes to, and what it lacks."""
        return Response(_forecast(self.one(asking.of_people(self), pk=campaign)))


class Drawn(Endpoint):
    """A campaign's questionnaires."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=None, responses=ForecastRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Draw a draft's questionnaires, in place of those drawn before. Opening draws them where there are none."""
        found = self.one(asking.of_people(self), pk=campaign)
        return Response(_forecast(asking.asked(campaigns.build, campaign=found, now=timezone.now())))


class Extended(Endpoint):
    """A campaign of which more judgments are asked."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "POST": CHANGED}
    serializer_class = ExtensionRow
    parameters = frozenset({"k"})

    @extend_schema(parameters=[InAll])
    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show what it costs to have each questionnaire judged by k people in all; nothing is changed."""
        reader = InAll(data=request.query_params)
        try:
            reader.is_valid(raise_exception=True)
        except exceptions.ValidationError as error:
            raise filter_problem(error) from None
        found = self.one(asking.of_people(self), pk=campaign)
        return Response(ExtensionRow(asking.asked(live.extension, found, reader.validated_data["k"])).data)

    @extend_schema(request=InAll, responses=ExtensionRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Have each questionnaire judged by k people in all. What is answered is what was asked for by this."""
        found, k = self.one(asking.of_people(self), pk=campaign), self.given(InAll)["k"]
        asked = asking.asked(live.extension, found, k)
        asking.asked(live.extend, campaign=found, k=k, now=timezone.now())
        return Response(ExtensionRow(asked).data)


def _forecast(campaign: Campaign) -> Any:
    found = campaigns.forecast(campaign)
    measures = campaigns.measures(campaign) if found.is_drawn else None
    readiness = campaigns.readiness(campaign, found, measures)
    computed = {name: getattr(found, name) for name in ("assignments", "judgments", "hours", "wage", "each", "total")}
    said = {"problems": readiness.problems, "warnings": readiness.warnings}
    return ForecastRow(asdict(found) | computed | said).data

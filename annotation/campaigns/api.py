"""Endpoints of campaigns: list, create, terms, forecast, launch.

Also contains how endpoints find campaigns, and how refusals of domain functions become error responses.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ClassVar, TypeVar

import django_filters
from django.db.models import Prefetch, QuerySet
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem, filter_problem
from crowdrag.api.serializers import RequestBody
from crowdrag.assignments.terms import limits
from crowdrag.studies.enums import Role

from ..enums import CampaignKind, CampaignState, Judges
from ..models import Campaign, CampaignDimension
from ..progress import costs
from ..progress import services as progress_services
from . import forecasts, launch, problems, services
from . import questionnaires as campaigns_questionnaires

WITH = ("study", "source", "instructions", "consent_text")
CAMPAIGN_DIMENSIONS = Prefetch(
    "campaign_dimensions", CampaignDimension.objects.select_related("dimension").order_by("position")
)
T = TypeVar("T")


def campaigns_of_study(endpoint: Endpoint) -> QuerySet[Campaign]:
    """Return the campaigns of the study in the URL."""
    return Campaign.objects.filter(study=endpoint.study).select_related(*WITH).prefetch_related(CAMPAIGN_DIMENSIONS)


def campaigns_of_people(endpoint: Endpoint) -> QuerySet[Campaign]:
    """Return the campaigns that people judge. Those of model judges are created and changed with the models' runs."""
    return campaigns_of_study(endpoint).exclude(judges=Judges.MODEL)


def run_or_refuse(do: Callable[..., T], *given: Any, **more: Any) -> T:
    """Call a domain function, or raise a validation error that says why it refused."""
    try:
        return do(*given, **more)
    except problems.BadCampaign as error:
        errors = [
            {"pointer": f"#/{field}" if field else "#", "detail": problem, "code": "refused"}
            for field, problem in error.problems.items()
        ]
        raise Problem("refused", str(error), errors=errors) from None
    except problems.NotReady as error:
        errors = [{"detail": problem, "code": "missing"} for problem in error.problems]
        raise Problem("conflict", str(error), errors=errors) from None
    except problems.CampaignProblem as error:
        raise Problem("conflict", str(error)) from None


CHANGED = Need(Role.EDITOR, Scope.WRITE)
MOST = 2_000_000_000


class CampaignQuestionRow(serializers.ModelSerializer[CampaignDimension]):
    """A question of a campaign."""

    dimension = serializers.CharField(source="dimension.name")
    version = serializers.IntegerField(source="dimension.version")
    question = serializers.CharField(source="dimension.question")
    options = serializers.ListField(child=serializers.DictField(), source="dimension.options")

    class Meta:
        model = CampaignDimension
        fields = ["dimension", "version", "question", "options"]


class CampaignRow(serializers.ModelSerializer[Campaign]):
    """A campaign. Money is in minor units of the study's currency."""

    source = serializers.PrimaryKeyRelatedField[Campaign](  # type: ignore[assignment] # a field, and no attribute
        read_only=True, allow_null=True, help_text="The campaign whose items are judged again."
    )
    asks = CampaignQuestionRow(source="campaign_dimensions", many=True)
    instructions = serializers.CharField(source="instructions.text", default="", help_text="The judges' instructions.")
    consent_text = serializers.CharField(source="consent_text.text", default="")
    eligibility = serializers.DictField(help_text="Eligibility rules for a recruitment platform.")

    class Meta:
        model = Campaign
        fields = ["id", "kind", "judges", "inference", "state", *Campaign.TERMS, "source", "is_simulated", "asks",
                  "instructions", "consent_text", "created_at", "opened_at", "closed_at"]  # fmt: skip


class Eligibility(RequestBody):
    """Eligibility rules. Omitted rules do not apply."""

    languages = serializers.ListField(
        child=serializers.RegexField("^[a-z]{2,3}$"), required=False, max_length=200, help_text="ISO 639."
    )
    countries = serializers.ListField(
        child=serializers.RegexField("^[A-Z]{2}$"), required=False, max_length=300, help_text="ISO 3166-1."
    )
    approval_rate = serializers.IntegerField(min_value=0, max_value=100, required=False, allow_null=True)
    completed = serializers.IntegerField(min_value=0, max_value=1_000_000, required=False, allow_null=True)


class ChangedCampaign(RequestBody, serializers.ModelSerializer[Campaign]):
    """The terms of a campaign. Omitted fields stay unchanged. Money is in minor units of the study's currency."""

    eligibility = Eligibility(required=False)

    class Meta:
        model = Campaign
        fields: ClassVar = [*Campaign.TERMS]
        extra_kwargs: ClassVar = {name: {"required": False} for name in Campaign.TERMS}


class NewCampaign(ChangedCampaign):
    """A campaign to create. Omitted terms have default values."""

    kind = serializers.ChoiceField(CampaignKind.choices, required=False, default=CampaignKind.PAIRWISE)
    source = serializers.IntegerField(  # type: ignore[assignment]
        min_value=1, max_value=MOST, required=False, allow_null=True, default=None,
        help_text="Expert campaigns only: the campaign whose items are judged.",
    )  # fmt: skip

    class Meta(ChangedCampaign.Meta):
        fields: ClassVar = [*Campaign.TERMS, "kind", "source"]
        extra_kwargs: ClassVar = ChangedCampaign.Meta.extra_kwargs | {"name": {"required": True}}


class CampaignFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which campaigns."""

    kind = django_filters.ChoiceFilter(choices=CampaignKind.choices)
    judges = django_filters.ChoiceFilter(choices=Judges.choices)
    state = django_filters.ChoiceFilter(choices=CampaignState.choices)

    class Meta:
        model = Campaign
        fields = ["kind", "judges", "state"]


class Campaigns(ListEndpoint):
    """List the campaigns of a study, including those of model judges."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": CHANGED}
    queryset = Campaign.objects.select_related(*WITH).prefetch_related(CAMPAIGN_DIMENSIONS)
    serializer_class = CampaignRow
    filterset_class = CampaignFilter

    @extend_schema(request=NewCampaign, responses={201: CampaignRow})
    def post(self, request: Request, study: str) -> Response:
        """Create a draft campaign with the default questions, instructions and consent text."""
        data = self.validated(NewCampaign)
        name, kind, source = data.pop("name"), data.pop("kind"), data.pop("source")
        again = self.one(Campaign.objects.filter(study=self.study), pk=source) if source else None
        now = timezone.now()
        campaign = run_or_refuse(
            services.create_draft, study=self.study, name=name, kind=kind, source=again, terms=data, now=now
        )
        where = request.build_absolute_uri(reverse("api_campaign", args=[self.study.slug, campaign.pk]))
        return Response(_campaign_data(self, campaign.pk), status=201, headers={"Location": where})


class OneCampaign(Endpoint):
    """A campaign."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PATCH": CHANGED, "DELETE": CHANGED}
    serializer_class = CampaignRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show a campaign."""
        return Response(_campaign_data(self, campaign))

    @extend_schema(request=ChangedCampaign, responses=CampaignRow)
    def patch(self, request: Request, study: str, campaign: int) -> Response:
        """Change the terms of a campaign. After launch, the promised terms are fixed, but the pay can be raised."""
        data = self.validated(ChangedCampaign)
        with self.unchanged(campaigns_of_people(self).filter(pk=campaign), CampaignRow) as held:
            run_or_refuse(services.change_terms, campaign=held, terms=data, now=timezone.now())
            return Response(_campaign_data(self, campaign))

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, study: str, campaign: int) -> Response:
        """Delete a draft with its questionnaires."""
        run_or_refuse(services.delete_draft, campaign=self.one(campaigns_of_people(self), pk=campaign))
        return Response(status=204)


class CopiedCampaign(RequestBody):
    """The name of a copy."""

    name = serializers.CharField(
        max_length=100,
        required=False,
        default="",
        allow_blank=True,
        help_text=('Default: the name followed by "(copy)".'),
    )


class Cloned(Endpoint):
    """A copy of a campaign."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=CopiedCampaign, responses={201: CampaignRow})
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Create a draft with the same terms, design, questions, texts and known labels."""
        instance = self.one(campaigns_of_people(self), pk=campaign)
        copy = run_or_refuse(
            services.clone_campaign, campaign=instance, name=self.validated(CopiedCampaign)["name"], now=timezone.now()
        )
        where = request.build_absolute_uri(reverse("api_campaign", args=[self.study.slug, copy.pk]))
        return Response(_campaign_data(self, copy.pk), status=201, headers={"Location": where})


class Step(Endpoint):
    """A state transition of a campaign. Idempotent: repeating it has no further effect."""

    needs: ClassVar = {"POST": CHANGED}
    change: ClassVar[Callable[..., Campaign]]

    def _stepped(self, pk: int) -> Response:
        instance = self.one(campaigns_of_people(self), pk=pk)
        run_or_refuse(type(self).change, campaign=instance, now=timezone.now())
        return Response(_campaign_data(self, pk))


class Opened(Step):
    """A campaign that is opened."""

    change = staticmethod(launch.open_campaign)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Launch a campaign. Draws the questionnaires if there are none and creates their places."""
        return self._stepped(campaign)


class Paused(Step):
    """A campaign that is paused."""

    change = staticmethod(launch.pause_campaign)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Pause a campaign. Nobody gets a new questionnaire. People who have one can finish it and are paid."""
        return self._stepped(campaign)


class Closed(Step):
    """A campaign that is closed."""

    change = staticmethod(launch.close_campaign)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Close a campaign. Nobody gets a new questionnaire. People who have one can finish it and are paid."""
        return self._stepped(campaign)


class Reopened(Step):
    """A campaign that is open again."""

    change = staticmethod(launch.reopen_campaign)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Reopen a campaign. Questionnaires with open places are assigned again."""
        return self._stepped(campaign)


def _campaign_data(endpoint: Endpoint, pk: int) -> Any:
    return CampaignRow(endpoint.one(campaigns_of_study(endpoint), pk=pk)).data


class ForecastRow(serializers.Serializer[Any]):
    """Size and cost of a campaign, for the drawn questionnaires or for its design. Money is in minor units."""

    is_drawn = serializers.BooleanField()
    topics = serializers.IntegerField()
    single = serializers.IntegerField(help_text="Topics with only one response, which cannot be compared.")
    units = serializers.IntegerField(help_text="Pairs regardless of order, or responses.")
    both_orders = serializers.IntegerField(help_text="Pairs shown in both orders.")
    items = serializers.IntegerField(help_text="Items judged k times, without items with known labels.")
    questionnaires = serializers.IntegerField()
    fewest = serializers.IntegerField(help_text="Items in the smallest questionnaire.")
    most = serializers.IntegerField(help_text="Items in the largest questionnaire.")
    k = serializers.IntegerField()
    dimensions = serializers.IntegerField()
    gold = serializers.IntegerField()
    checks = serializers.IntegerField()
    people = serializers.IntegerField(help_text="Minimum number of judges.")
    assignments = serializers.IntegerField(help_text="Completed questionnaires.")
    judgments = serializers.IntegerField()
    words = serializers.FloatField(allow_null=True, help_text="Mean number of words to read in a questionnaire.")
    minutes = serializers.IntegerField(help_text="Announced minutes per questionnaire.")
    hours = serializers.FloatField(help_text="Total for all judges.")
    wage = serializers.FloatField(help_text="Pay per hour.")
    each = serializers.IntegerField(help_text="Cost per completed questionnaire, including fee and tax.")
    total = serializers.IntegerField(help_text="Total cost.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="Problems that prevent the launch.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="Warnings before the launch.")


class ExtensionRow(serializers.Serializer[costs.Extension]):
    """Size and cost if k people in total judge each questionnaire. Money is in minor units."""

    k = serializers.IntegerField()
    more = serializers.IntegerField(help_text="Additional judgments per questionnaire.")
    places = serializers.IntegerField(help_text="Additional questionnaires to complete.")
    cost = serializers.IntegerField(help_text="Cost of these, including fee and tax.")


class InAll(RequestBody):
    """The total number of judges per questionnaire. Idempotent."""

    k = serializers.IntegerField(
        **limits(Campaign._meta.get_field("k")), help_text=("The total number, not the increase.")
    )


class Forecast(Endpoint):
    """Size and cost of a campaign."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    serializer_class = ForecastRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show the judges, hours and cost of a campaign, and what is missing for its launch."""
        return Response(_forecast(self.one(campaigns_of_people(self), pk=campaign)))


class Drawn(Endpoint):
    """A campaign's questionnaires."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=None, responses=ForecastRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Draw the questionnaires of a draft and replace earlier ones. The launch draws them if there are none."""
        instance = self.one(campaigns_of_people(self), pk=campaign)
        return Response(_forecast(run_or_refuse(campaigns_questionnaires.build, campaign=instance, now=timezone.now())))


class Extended(Endpoint):
    """A campaign to extend."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "POST": CHANGED}
    serializer_class = ExtensionRow
    parameters = frozenset({"k"})

    @extend_schema(parameters=[InAll])
    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show the cost if k people in total judge each questionnaire. Nothing is changed."""
        reader = InAll(data=request.query_params)
        try:
            reader.is_valid(raise_exception=True)
        except exceptions.ValidationError as error:
            raise filter_problem(error) from None
        instance = self.one(campaigns_of_people(self), pk=campaign)
        return Response(
            ExtensionRow(run_or_refuse(progress_services.extension_cost, instance, reader.validated_data["k"])).data
        )

    @extend_schema(request=InAll, responses=ExtensionRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Have each questionnaire judged by k people in total. The answer shows what this request added."""
        instance, k = self.one(campaigns_of_people(self), pk=campaign), self.validated(InAll)["k"]
        cost = run_or_refuse(progress_services.extension_cost, instance, k)
        run_or_refuse(progress_services.extend, campaign=instance, k=k, now=timezone.now())
        return Response(ExtensionRow(cost).data)


def _forecast(campaign: Campaign) -> Any:
    figures = forecasts.forecast(campaign)
    measures = campaigns_questionnaires.measures(campaign) if figures.is_drawn else None
    readiness = launch.readiness(campaign, figures, measures)
    computed = {name: getattr(figures, name) for name in ("assignments", "judgments", "hours", "wage", "each", "total")}
    content = {"problems": readiness.problems, "warnings": readiness.warnings}
    return ForecastRow(asdict(figures) | computed | content).data

"""Campaigns of judgments: what there are, a new one, its terms, and letting people judge."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import django_filters
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..domain import campaigns
from ..enums import CampaignKind, CampaignState, Judges
from ..models import Campaign, CampaignDimension
from . import asking

CHANGED = Need(Role.EDITOR, Scope.WRITE)
TERMS = [
    "name", "k", "pay", "fee", "tax", "wage_floor", "minutes", "lease_minutes", "questionnaires_per_person",
    "least_seconds", "takes_comments", "eligibility",
]  # fmt: skip
MOST = 2_000_000_000


class AskedRow(serializers.ModelSerializer[CampaignDimension]):
    """A question that a campaign asks."""

    dimension = serializers.CharField(source="dimension.name")
    version = serializers.IntegerField(source="dimension.version")
    question = serializers.CharField(source="dimension.question")
    options = serializers.ListField(child=serializers.DictField(), source="dimension.options")

    class Meta:
        model = CampaignDimension
        fields = ["dimension", "version", "question", "options"]


class CampaignRow(serializers.ModelSerializer[Campaign]):
    """A campaign as it is shown. Money is in minor units of the study's currency."""

    source = serializers.PrimaryKeyRelatedField[Campaign](  # type: ignore[assignment] # a field, and no attribute
        read_only=True, allow_null=True, help_text="The campaign whose items are asked again."
    )
    asks = AskedRow(source="asked", many=True)
    instructions = serializers.CharField(source="instructions.text", default="", help_text="What judges are told.")
    consent_text = serializers.CharField(source="consent_text.text", default="")
    eligibility = serializers.DictField(help_text="Who may take part, as told to a recruitment platform.")

    class Meta:
        model = Campaign
        fields = ["id", "kind", "judges", "inference", "state", *TERMS, "source", "is_simulated", "asks",
                  "instructions", "consent_text", "created_at", "opened_at", "closed_at"]  # fmt: skip


class Eligibility(RequestBody):
    """Who may take part; what is left out is not asked for."""

    languages = serializers.ListField(
        child=serializers.RegexField("^[a-z]{2,3}$"), required=False, max_length=200, help_text="ISO 639."
    )
    countries = serializers.ListField(
        child=serializers.RegexField("^[A-Z]{2}$"), required=False, max_length=300, help_text="ISO 3166-1."
    )
    approval_rate = serializers.IntegerField(min_value=0, max_value=100, required=False, allow_null=True)
    completed = serializers.IntegerField(min_value=0, max_value=1_000_000, required=False, allow_null=True)


class ChangedCampaign(RequestBody):
    """The terms of a campaign; what is left out stays as it is, of a new one as usual."""

    name = serializers.CharField(max_length=100, required=False)
    k = serializers.IntegerField(min_value=1, max_value=32767, required=False, help_text="Judgments per item.")
    pay = serializers.IntegerField(min_value=0, max_value=MOST, required=False, allow_null=True)
    fee = serializers.IntegerField(min_value=0, max_value=MOST, required=False, allow_null=True)
    tax = serializers.IntegerField(min_value=0, max_value=MOST, required=False, allow_null=True)
    wage_floor = serializers.IntegerField(min_value=0, max_value=MOST, required=False, allow_null=True)
    minutes = serializers.IntegerField(min_value=1, max_value=32767, required=False)
    lease_minutes = serializers.IntegerField(min_value=1, max_value=32767, required=False)
    questionnaires_per_person = serializers.IntegerField(
        min_value=1, max_value=32767, required=False, allow_null=True, help_text="At most; null: as many as they like."
    )
    least_seconds = serializers.IntegerField(min_value=0, max_value=MOST, required=False, allow_null=True)
    takes_comments = serializers.BooleanField(required=False)
    eligibility = Eligibility(required=False)


class NewCampaign(ChangedCampaign):
    """A campaign to be made."""

    name = serializers.CharField(max_length=100)
    kind = serializers.ChoiceField(CampaignKind.choices, required=False, default=CampaignKind.PAIRWISE)
    source = serializers.IntegerField(  # type: ignore[assignment]
        min_value=1, max_value=MOST, required=False, allow_null=True, default=None,
        help_text="Of experts: the campaign whose items they judge.",
    )  # fmt: skip


class CampaignFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which campaigns."""

    kind = django_filters.ChoiceFilter(choices=CampaignKind.choices)
    judges = django_filters.ChoiceFilter(choices=Judges.choices)
    state = django_filters.ChoiceFilter(choices=CampaignState.choices)

    class Meta:
        model = Campaign
        fields = ["kind", "judges", "state"]


class Campaigns(ListEndpoint):
    """List the campaigns of a study, those of models as judges too."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": CHANGED}
    queryset = Campaign.objects.select_related(*asking.WITH).prefetch_related(asking.ASKED)
    serializer_class = CampaignRow
    filterset_class = CampaignFilter

    @extend_schema(request=NewCampaign, responses={201: CampaignRow})
    def post(self, request: Request, study: str) -> Response:
        """Make a campaign that nobody sees yet, with the usual questions, instructions and consent text."""
        given = self.given(NewCampaign)
        name, kind, source = given.pop("name"), given.pop("kind"), given.pop("source")
        again = self.one(Campaign.objects.filter(study=self.study), pk=source) if source else None
        usual = campaigns.Terms(name=name, k=3) if kind == CampaignKind.EXPERT else None
        terms = replace(usual or campaigns.Terms(name=name, eligibility=dict(campaigns.SUGGESTED)), **given)
        now = timezone.now()
        made = asking.asked(campaigns.draft, study=self.study, name=name, kind=kind, source=again, terms=terms, now=now)
        where = request.build_absolute_uri(reverse("api_campaign", args=[self.study.slug, made.pk]))
        return Response(_shown(self, made.pk), status=201, headers={"Location": where})


class OneCampaign(Endpoint):
    """One campaign."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PATCH": CHANGED, "DELETE": CHANGED}
    serializer_class = CampaignRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show a campaign."""
        return Response(_shown(self, campaign))

    @extend_schema(request=ChangedCampaign, responses=CampaignRow)
    def patch(self, request: Request, study: str, campaign: int) -> Response:
        """Change a campaign's terms. Once it was opened, what people were promised stays; the pay may rise."""
        given = self.given(ChangedCampaign)
        with self.unchanged(asking.of_people(self).filter(pk=campaign), CampaignRow) as held:
            terms = replace(campaigns.terms_of(held), **given)
            asking.asked(campaigns.change, campaign=held, terms=terms, now=timezone.now())
            return Response(_shown(self, campaign))

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, study: str, campaign: int) -> Response:
        """Delete a draft that nobody saw, with all that was drawn for it."""
        asking.asked(campaigns.delete, campaign=self.one(asking.of_people(self), pk=campaign))
        return Response(status=204)


class CopiedCampaign(RequestBody):
    """What a copy is to be called."""

    name = serializers.CharField(
        max_length=100, required=False, default="", allow_blank=True, help_text='Without one: the name with "(copy)".'
    )


class Cloned(Endpoint):
    """A copy of a campaign."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=CopiedCampaign, responses={201: CampaignRow})
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Make a draft with the same terms, design, questions, texts and known labels."""
        found = self.one(asking.of_people(self), pk=campaign)
        made = asking.asked(
            campaigns.clone, campaign=found, name=self.given(CopiedCampaign)["name"], now=timezone.now()
        )
        where = request.build_absolute_uri(reverse("api_campaign", args=[self.study.slug, made.pk]))
        return Response(_shown(self, made.pk), status=201, headers={"Location": where})


class Step(Endpoint):
    """A campaign that goes from one state into another; done twice it is done once."""

    needs: ClassVar = {"POST": CHANGED}
    change: ClassVar[Callable[..., Campaign]]

    def _stepped(self, pk: int) -> Response:
        found = self.one(asking.of_people(self), pk=pk)
        asking.asked(type(self).change, campaign=found, now=timezone.now())
        return Response(_shown(self, pk))


class Opened(Step):
    """A campaign that is opened."""

    change = staticmethod(campaigns.open)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Let people judge: questionnaires are drawn where there are none, and get their places."""
        return self._stepped(campaign)


class Paused(Step):
    """A campaign that is paused."""

    change = staticmethod(campaigns.pause)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Give out no questionnaire for the time being; whoever has one finishes it and is paid."""
        return self._stepped(campaign)


class Closed(Step):
    """A campaign that is closed."""

    change = staticmethod(campaigns.close)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Give out no questionnaire any more; whoever has one finishes it and is paid."""
        return self._stepped(campaign)


class Reopened(Step):
    """A campaign that is open again."""

    change = staticmethod(campaigns.reopen)

    @extend_schema(request=None, responses=CampaignRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Give out questionnaires again, as far as there are places."""
        return self._stepped(campaign)


def _shown(endpoint: Endpoint, pk: int) -> Any:
    return CampaignRow(endpoint.one(asking.of(endpoint), pk=pk)).data

"""Endpoints of items with known labels: gold items and training items."""

from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem, parameter_problem, refusal_problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..campaigns import api
from ..campaigns.api import CHANGED
from ..enums import CampaignState, Judges
from ..models import Campaign, CampaignDimension, Item, KnownLabel, TrainingItem
from . import known_labels, problems
from .known_labels import LabelWithReason

SEEN = Need(Role.EDITOR)
POOLS = (Judges.EXPERT, Judges.CROWD)
MOST_VALUE = 32_767
LONGEST = 2000
# The related columns to show. Everything else is deferred, else each row would load the texts of its responses.
SHOWN = ("topic__external_id", "response__external_id", "pair__a__external_id", "pair__b__external_id")
# Errors in the request, with the field that is wrong. All other errors are conflicts with the current state.
REFUSED: dict[type[Exception], str] = {problems.BadPair: "responses", problems.BadLabel: "labels"}


class KnownLabelRow(serializers.ModelSerializer[KnownLabel]):
    """A known label."""

    dimension = serializers.CharField(source="dimension.name")

    class Meta:
        model = KnownLabel
        fields = ["dimension", "value", "explanation"]
        extra_kwargs = {"explanation": {"help_text": "Explanation shown in training."}}


class KnownRow(serializers.ModelSerializer[Item]):
    """An item with known labels."""

    topic = serializers.CharField(source="topic.external_id")
    responses = serializers.SerializerMethodField(help_text="Response IDs: left and right, or only one.")
    labels = KnownLabelRow(source="sorted_labels", many=True)
    teaches = serializers.BooleanField(help_text="True: used to train new judges. False: included in questionnaires.")

    class Meta:
        model = Item
        fields = ["id", "topic", "responses", "labels", "teaches"]

    def get_responses(self, item: Item) -> list[str]:
        """Return the ids of the responses that are shown, in order."""
        if item.pair is not None:
            return [item.pair.a.external_id, item.pair.b.external_id]
        return [item.response.external_id] if item.response is not None else []


class KnownLabelInput(RequestBody):
    """A known label."""

    dimension = serializers.CharField(max_length=100, help_text="Short name of a question of the campaign.")
    value = serializers.IntegerField(min_value=-MOST_VALUE, max_value=MOST_VALUE)
    explanation = serializers.CharField(max_length=LONGEST, required=False, allow_blank=True, default="")


class KnownItemData(RequestBody):
    """The known labels of an item and its use."""

    labels = serializers.ListField(child=KnownLabelInput(), min_length=1, max_length=100)
    teaches = serializers.BooleanField(required=False, default=False)


class NewKnown(KnownItemData):
    """The responses of an item and their known labels."""

    responses = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=1, max_length=2,
        help_text="Response IDs: left and right. For pointwise and support campaigns, one ID.",
    )  # fmt: skip
    statement = serializers.IntegerField(
        min_value=0, required=False, default=None, allow_null=True,
        help_text="For support campaigns: the position of the statement in the response, from 0.",
    )  # fmt: skip
    passage = serializers.CharField(
        max_length=300, required=False, default="", allow_blank=True,
        help_text="For support campaigns: ID of a passage that the statement cites.",
    )  # fmt: skip


class ProposalRow(serializers.Serializer[known_labels.Proposal]):
    """Two responses with the labels that others agreed on."""

    responses = serializers.SerializerMethodField(help_text="Response IDs, in the order in which they were shown.")
    labels = serializers.SerializerMethodField(help_text="Labels by the short name of the question.")
    judges = serializers.IntegerField(help_text="Maximum number of judges.")
    agreement = serializers.FloatField(help_text="Share of judges who agree.")

    def get_responses(self, proposal: known_labels.Proposal) -> list[str]:
        """Return the IDs of the responses, in the order in which they were shown."""
        return [proposal.pair.a.external_id, proposal.pair.b.external_id]

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_labels(self, proposal: known_labels.Proposal) -> dict[str, int]:
        """Return the labels by the questions' names."""
        names = self.context["names"]
        return {names[dimension]: value for dimension, value in proposal.labels.items()}


class ProposalsRow(serializers.Serializer[Any]):
    """Candidates for known labels, clearest first (at most 50)."""

    results = ProposalRow(many=True)


class KnownItems(ListEndpoint):
    """List the items of a campaign with known labels."""

    needs: ClassVar = {"GET": SEEN, "POST": CHANGED}
    queryset = Item.objects.all()
    serializer_class = KnownRow
    order = ("id",)

    def rows(self) -> QuerySet[Item]:
        """Return the items of the campaign that the address names."""
        return _items(_campaign(self))

    @extend_schema(request=NewKnown, responses={201: KnownRow})
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Add known labels for two responses (or one). Only in drafts. Drawn questionnaires are discarded."""
        instance, data = _campaign(self), self.validated(NewKnown)
        labels = _labels(instance, data["labels"])
        try:
            with transaction.atomic():
                item = known_labels.add_known_item(
                    campaign=instance, responses=data["responses"], statement=data["statement"], passage=data["passage"]
                )
                known_labels.set_known_item(item=item, labels=labels, teaches=data["teaches"])
        except problems.ChecksProblem as error:
            raise refusal_problem(error, REFUSED) from None
        where = reverse("api_known_label", args=[study, campaign, item.pk], request=request)
        return Response(KnownRow(_items(instance).get(pk=item.pk)).data, status=201, headers={"Location": where})


class OneKnownItem(Endpoint):
    """An item with known labels."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED, "DELETE": CHANGED}
    serializer_class = KnownRow

    def get(self, request: Request, study: str, campaign: int, item: int) -> Response:
        """Show the known labels of an item and its use."""
        return Response(KnownRow(self._one(item)).data)

    @extend_schema(request=KnownItemData, responses=KnownRow)
    def put(self, request: Request, study: str, campaign: int, item: int) -> Response:
        """Change the known labels of an item and its use. Only in drafts. Drawn questionnaires are discarded."""
        data, rows = self.validated(KnownItemData), api.campaigns_of_people(self).filter(pk=campaign)
        self._one(item)
        # Lock the campaign, not the item: every change of items locks the campaign first.
        with self.unchanged(rows, _Known.of(item)) as held:
            labels = _labels(held, data["labels"])
            try:
                known_labels.set_known_item(item=self._one(item), labels=labels, teaches=data["teaches"])
            except problems.ChecksProblem as error:
                raise refusal_problem(error, REFUSED) from None
            return Response(KnownRow(self._one(item)).data)

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, study: str, campaign: int, item: int) -> Response:
        """Remove all known labels of an item. Only in drafts. If it is a regular item, it is drawn again."""
        try:
            known_labels.remove(item=self._one(item))
        except problems.ChecksProblem as error:
            raise refusal_problem(error, REFUSED) from None
        return Response(status=204)

    def _one(self, item: int) -> Item:
        return self.one(_items(_campaign(self)), pk=item)


class Proposals(Endpoint):
    """Candidates for known labels."""

    needs: ClassVar = {"GET": SEEN}
    serializer_class = ProposalsRow
    parameters = frozenset({"pool"})

    @extend_schema(parameters=[OpenApiParameter("pool", enum=[str(pool.value) for pool in POOLS])])
    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show pairs on which experts (`pool=EXPERT`, unless it says `CROWD`) agreed in the study's other campaigns."""
        pool = request.query_params.get("pool", Judges.EXPERT.value)
        if pool not in POOLS:
            raise parameter_problem("pool", "Choose one of {pools}.".format(pools=", ".join(POOLS)))
        instance = _campaign(self)
        names = dict(CampaignDimension.objects.filter(campaign=instance).values_list("dimension", "dimension__name"))
        proposals = known_labels.proposals(instance, Judges(pool))
        return Response(ProposalsRow({"results": proposals}, context={"names": names}).data)


class _Known(serializers.Serializer[Campaign]):
    """Shows a campaign as one of its known items, which is what If-Match is held against."""

    item: ClassVar[int]

    @classmethod
    def of(cls, item: int) -> type["_Known"]:
        """Return the one for this item."""
        return type("_Known", (cls,), {"item": item})

    def to_representation(self, instance: Campaign) -> Any:
        """Return the campaign's known item."""
        item = _items(instance).filter(pk=self.item).first()
        return KnownRow(item).data if item else {}


def _campaign(endpoint: Endpoint) -> Campaign:
    """Return the campaign in the URL, if it is a draft without slots or was opened here."""
    rows = api.campaigns_of_people(endpoint).filter(Q(state=CampaignState.DRAFT) | Q(has_slots=True))
    return endpoint.one(rows, pk=endpoint.kwargs["campaign"])


def _items(campaign: Campaign) -> QuerySet[Item]:
    """Return a campaign's known items with everything that is shown of them."""
    shown = ("item_id", "value", "explanation", "dimension__name")
    labels = KnownLabel.objects.order_by("dimension_id").select_related("dimension").only(*shown)
    rows = known_labels.chosen_items(campaign).select_related("topic", "response", "pair__a", "pair__b")
    # Plain lists: a manager for each row would take longer than the query.
    rows = rows.only("campaign_id", *SHOWN).prefetch_related(Prefetch("known_labels", labels, to_attr="sorted_labels"))
    return rows.annotate(teaches=Exists(TrainingItem.objects.filter(item=OuterRef("pk"))))


def _labels(campaign: Campaign, rows: list[dict[str, Any]]) -> dict[int, LabelWithReason]:
    """Return labels by the keys of the named questions; refuse questions that the campaign does not have."""
    keys = dict(CampaignDimension.objects.filter(campaign=campaign).values_list("dimension__name", "dimension"))
    if unknown := sorted({each["dimension"] for each in rows} - set(keys)):
        message = "The campaign has no questions called {names}.".format(names=", ".join(unknown))
        raise Problem("refused", message, errors=[{"pointer": "#/labels", "detail": message, "code": "unknown"}])
    return {keys[each["dimension"]]: LabelWithReason(each["value"], each["explanation"]) for each in rows}

"""Judgments as they were given, by pseudonym."""

from typing import Any, ClassVar

import django_filters
from django.db.models import Prefetch, QuerySet
from rest_framework import serializers

from crowdrag.api.endpoints import ListEndpoint, Need
from crowdrag.api.serializers import IntegerFilter, StrictBooleanFilter
from crowdrag.studies.enums import AuditedContent, Role

from ..enums import AssignmentState, Judges
from ..models import Dimension, Item, Judgment

# What is shown of these: without it each row would bring the texts of two responses and of its topic.
WITH = ("assignment__participant", "assignment__questionnaire", "dimension")
SHOWN = ("assignment__state", "assignment__is_included", "assignment__participant__external_id",
         "assignment__questionnaire__external_id", "item_id", "dimension__name", "dimension__version", "value",
         "justification", "repeat", "judged_at")  # fmt: skip
# By a query of its own: of twelve tables at once the database takes ten times as long to plan as to answer.
ITEM = Prefetch(
    "item",
    Item.objects.select_related("topic", "response", "pair__a", "pair__b").only(
        "campaign_id",
        "topic__external_id",
        "response__external_id",
        "pair__a__external_id",
        "pair__b__external_id",
    ),
)


class OfItemRow(serializers.Serializer[Any]):
    """What was said of an item, with what that item is: rows come with `ITEM`."""

    campaign = serializers.IntegerField(source="item.campaign_id")
    item = serializers.IntegerField(source="item_id")
    topic = serializers.CharField(source="item.topic.external_id")
    response = serializers.CharField(
        source="item.response.external_id", default=None, allow_null=True, help_text="Of items that are one response."
    )
    response_a = serializers.CharField(
        source="item.pair.a.external_id", default=None, allow_null=True, help_text="Left, as presented."
    )
    response_b = serializers.CharField(
        source="item.pair.b.external_id", default=None, allow_null=True, help_text="Right, as presented."
    )


class JudgmentRow(OfItemRow, serializers.ModelSerializer[Judgment]):
    """A judgment: one person's answer to one question about one item."""

    questionnaire = serializers.CharField(source="assignment.questionnaire.external_id")
    participant = serializers.CharField(source="assignment.participant.external_id", help_text="A pseudonym.")
    dimension = serializers.CharField(source="dimension.name")
    version = serializers.IntegerField(source="dimension.version")
    value = serializers.IntegerField(help_text="Of a pair as presented: -1 is A, 0 neither, 1 is B.")
    state = serializers.ChoiceField(AssignmentState.choices, source="assignment.state")
    is_included = serializers.BooleanField(source="assignment.is_included")

    class Meta:
        model = Judgment
        fields = ["id", "campaign", "questionnaire", "participant", "item", "topic", "response", "response_a",
                  "response_b", "dimension", "version", "value", "justification", "repeat", "state", "is_included",
                  "judged_at"]  # fmt: skip


class JudgmentFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which judgments."""

    campaign = IntegerFilter(field_name="item__campaign", min_value=1, max_value=2**31 - 1)
    judges = django_filters.ChoiceFilter(field_name="item__campaign__judges", choices=Judges.choices)
    dimension = django_filters.CharFilter(method="of_dimension", max_length=100)
    participant = django_filters.CharFilter(field_name="assignment__participant__external_id", max_length=200)
    topic = django_filters.CharFilter(field_name="item__topic__external_id", max_length=200)
    counted = StrictBooleanFilter(
        method="only_counted", help_text="Those that analyses count: accepted, included, no repeats."
    )

    class Meta:
        model = Judgment
        fields: ClassVar[list[str]] = []

    def of_dimension(self, rows: Any, _name: str, wanted: str) -> QuerySet[Judgment]:
        """Keep those on dimensions of this name: by keys, of which the database knows how many rows have them."""
        keys = list(Dimension.objects.filter(name=wanted).values_list("pk", flat=True))
        return rows.filter(dimension__in=keys)  # type: ignore[no-any-return]

    def only_counted(self, rows: Any, _name: str, wanted: bool) -> QuerySet[Judgment]:
        """Keep those that count, or those that do not."""
        return rows.counted() if wanted else rows.not_counted()  # type: ignore[no-any-return]


class Judgments(ListEndpoint):
    """List the judgments of a study, in the order in which they came into the system."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.ANSWERS
    queryset = Judgment.objects.all()
    serializer_class = JudgmentRow
    filterset_class = JudgmentFilter
    order = ("id",)

    def rows(self) -> QuerySet[Judgment]:
        """Return the study's judgments, with all that is shown of each."""
        return Judgment.objects.of_study(self.study).select_related(*WITH).only(*SHOWN).prefetch_related(ITEM)

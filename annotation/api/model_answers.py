"""What a run's model answered when it was asked to judge: each answer, with the judgments that came of it."""

from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from rest_framework import serializers

from crowdrag.api.endpoints import ListEndpoint, Need
from crowdrag.api.serializers import StrictBooleanFilter
from crowdrag.studies.enums import Role

from ..domain.judging_models import listing
from ..enums import JudgingOutcome
from ..models import JudgingAnswer
from .judgments import ITEM, OfItemRow

# What is shown of these, and by what the rest is found.
WITH = ("participant", "dimension")
SHOWN = ("run_id", "participant__external_id", "item_id", "dimension__name", "repeat", "outcome",
         "attempts", "is_own", "answered_at", "digest")  # fmt: skip


class VerdictRow(serializers.Serializer[listing.Verdict]):
    """A judgment that came of an answer."""

    dimension = serializers.CharField()
    version = serializers.IntegerField()
    value = serializers.IntegerField(help_text="Of a pair as presented: -1 is A, 0 neither, 1 is B.")
    justification = serializers.CharField()

    def to_representation(self, instance: listing.Verdict) -> dict[str, Any]:
        """Return it as it is, not field by field: there are many on a page, and that would take their time."""
        asked = instance.dimension
        return {
            "dimension": asked.name,
            "version": asked.version,
            "value": instance.value,
            "justification": instance.justification,
        }


class JudgeAnswerRow(OfItemRow, serializers.ModelSerializer[JudgingAnswer]):
    """A model's answer to one question about an item, or to all questions at once."""

    dimension = serializers.CharField(
        source="dimension.name", default=None, allow_null=True, help_text="Null where all questions were asked at once."
    )
    participant = serializers.CharField(source="participant.external_id", help_text="The model's pseudonym.")
    said = serializers.CharField(
        source="known.said", allow_null=True, help_text="In its own words. Null: the call is not kept any more."
    )
    judgments = VerdictRow(source="known.verdicts", many=True, help_text="What came of it; none unless it judged.")

    class Meta:
        model = JudgingAnswer
        fields = ["campaign", "item", "topic", "response", "response_a", "response_b", "dimension", "repeat",
                  "participant", "outcome", "attempts", "is_own", "said", "judgments", "answered_at"]  # fmt: skip
        extra_kwargs = {
            "repeat": {"help_text": "Counts up from 0 where the same was asked again; 0 counts."},
            "attempts": {"help_text": "How often it was asked until it came to this."},
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
    """List what a run's model answered when it was asked to judge, in the order in which it came into the system."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    queryset = JudgingAnswer.objects.all()
    serializer_class = JudgeAnswerRow
    filterset_class = JudgeAnswerFilter
    order = ("id",)

    def rows(self) -> QuerySet[JudgingAnswer]:
        """Return the answers of the run that the address names."""
        run = self.one(listing.runs(self.study), key=self.kwargs["key"])
        return JudgingAnswer.objects.filter(run=run).select_related(*WITH).only(*SHOWN).prefetch_related(ITEM)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of answers, each with what the model said and what was stored of it."""
        answers = super().paginate_queryset(queryset) or []
        for told in listing.told(answers):
            told.answer.known = told  # type: ignore[attr-defined] # what its serializer reads
        return answers

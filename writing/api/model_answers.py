"""What a run's model answered when it was asked to write: each answer, whether it became a response or not."""

from typing import ClassVar

import django_filters
from django.db.models import QuerySet
from rest_framework import serializers

from crowdrag.api.endpoints import ListEndpoint, Need
from crowdrag.studies.enums import Role

from ..domain.generation import listing
from ..enums import AnswerOutcome
from ..models import ModelAnswer

# What is shown of these: without it each row would bring its topic's and its response's text.
SHOWN = ("run_id", "topic__external_id", "style__name", "participant__external_id", "response__external_id", "outcome",
         "text", "words", "answered_at")  # fmt: skip


class WriterAnswerRow(serializers.ModelSerializer[ModelAnswer]):
    """A model's answer for one topic and style."""

    topic = serializers.CharField(source="topic.external_id")
    style = serializers.CharField(source="style.name")  # type: ignore[assignment] # a field's own, which a serializer has not
    participant = serializers.CharField(source="participant.external_id", help_text="The model's pseudonym.")
    response = serializers.CharField(
        source="response.external_id", default=None, allow_null=True, help_text="What it became; null: nothing."
    )

    class Meta:
        model = ModelAnswer
        fields = ["topic", "style", "participant", "outcome", "text", "words", "response", "answered_at"]
        extra_kwargs = {"text": {"help_text": "What the model said; empty once that was erased."}}


class WriterAnswerFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which answers."""

    outcome = django_filters.ChoiceFilter(choices=AnswerOutcome.choices)
    topic = django_filters.CharFilter(field_name="topic__external_id", max_length=200)
    style = django_filters.CharFilter(field_name="style__name", max_length=100, help_text="A style's name.")

    class Meta:
        model = ModelAnswer
        fields: ClassVar[list[str]] = []


class WriterAnswers(ListEndpoint):
    """List what a run's model answered when it was asked to write, by topic and style."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    queryset = ModelAnswer.objects.all()
    serializer_class = WriterAnswerRow
    filterset_class = WriterAnswerFilter
    # Of one run, which has one answer for each.
    order = ("topic_id", "style_id")

    def rows(self) -> QuerySet[ModelAnswer]:
        """Return the answers of the run that the address names."""
        run = self.one(listing.runs(self.study), key=self.kwargs["key"])
        return listing.answers(run).only(*SHOWN)

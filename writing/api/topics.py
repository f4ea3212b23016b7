"""Topics of a study and their passages."""

from typing import ClassVar

import django_filters
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.studies.enums import Role

from ..models import RetrievedPassage, Topic
from ..models.topic import TopicQuerySet


class TopicRow(serializers.ModelSerializer[Topic]):
    """A topic in its latest version."""

    passage_count = serializers.IntegerField(help_text="How many passages were retrieved for it.")
    response_count = serializers.IntegerField(help_text="How many responses answer it.")

    class Meta:
        model = Topic
        fields = ["external_id", "version", "query", "narrative", "created_at", "passage_count", "response_count"]


class PassageRow(serializers.ModelSerializer[RetrievedPassage]):
    """A passage that was retrieved for a topic."""

    external_id = serializers.CharField(source="passage.external_id")
    version = serializers.IntegerField(source="passage.version")
    title = serializers.CharField(source="passage.title")
    url = serializers.CharField(source="passage.url")
    text = serializers.CharField(source="passage.text")

    class Meta:
        model = RetrievedPassage
        fields = ["rank", "score", "external_id", "version", "title", "url", "text"]
        extra_kwargs = {"rank": {"help_text": "From 0, as citation markers count."}}


class TopicFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which topics."""

    q = django_filters.CharFilter(method="matching", help_text="Words of the query or the id.")

    class Meta:
        model = Topic
        fields: ClassVar[list[str]] = []

    def matching(self, topics: TopicQuerySet, _name: str, words: str) -> TopicQuerySet:
        """Keep those that hold these words."""
        return topics.matching(words)


class Topics(ListEndpoint):
    """List the topics of a study, each in its latest version."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = Topic.objects.all()
    serializer_class = TopicRow
    filterset_class = TopicFilter
    order = ("external_id", "id")

    def rows(self) -> QuerySet[Topic]:
        """Return the study's topics."""
        return Topic.objects.filter(study=self.study).current().with_counts()


class OneTopic(Endpoint):
    """One topic."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = TopicRow

    def get(self, request: Request, study: str, external_id: str) -> Response:
        """Show a topic in its latest version."""
        topics = Topic.objects.filter(study=self.study).current().with_counts()
        return Response(TopicRow(self.one(topics, external_id=external_id)).data)


class Passages(ListEndpoint):
    """List the passages of a topic in their order."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = RetrievedPassage.objects.select_related("passage")
    serializer_class = PassageRow
    order = ("rank", "id")

    def rows(self) -> QuerySet[RetrievedPassage]:
        """Return the topic's passages."""
        topics = Topic.objects.filter(study=self.study).current()
        return self.get_queryset().filter(topic=self.one(topics, external_id=self.kwargs["external_id"]))

"""Endpoints of topics, passages, responses and writing logs."""

from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import StrictBooleanFilter
from crowdrag.studies.enums import AuditedContent, Role

from ..editor import codec, logs
from ..enums import LogSource, Origin
from ..models import Response, RetrievedPassage, Statement, Topic, WritingLog
from . import queries
from .models import TopicQuerySet


class TopicRow(serializers.ModelSerializer[Topic]):
    """A topic in its latest version."""

    passage_count = serializers.IntegerField(help_text="Number of passages retrieved for the topic.")
    response_count = serializers.IntegerField(help_text="Number of responses to the topic.")

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
        extra_kwargs = {"rank": {"help_text": "Rank of the passage, from 0. Citation markers use the same numbers."}}


class TopicFilter(django_filters.FilterSet):  # type: ignore[misc] # untyped base class
    """Filters of topics."""

    q = django_filters.CharFilter(method="matching", help_text="Words in the query or the ID.")

    class Meta:
        model = Topic
        fields: ClassVar[list[str]] = []

    def matching(self, topics: TopicQuerySet, _name: str, words: str) -> TopicQuerySet:
        """Keep topics that contain these words."""
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
    """A topic."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    serializer_class = TopicRow

    def get(self, request: Request, study: str, external_id: str) -> Answer:
        """Show a topic in its latest version."""
        topics = Topic.objects.filter(study=self.study).current().with_counts()
        return Answer(TopicRow(self.one(topics, external_id=external_id)).data)


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


class StatementRow(serializers.ModelSerializer[Statement]):
    """A statement: its position in the text of the response, and the ranks of the passages that it cites."""

    cites = serializers.SerializerMethodField(help_text="Ranks of the cited passages, from 0.")

    class Meta:
        model = Statement
        fields = ["start", "end", "cites"]
        extra_kwargs = {"start": {"help_text": "Start position in the text, in Unicode code points."}}

    def get_cites(self, statement: Statement) -> list[int]:
        """Ranks of the cited passages, from 0."""
        return [citation.retrieved.rank for citation in statement.citations.all()]


class ResponseRow(serializers.ModelSerializer[Response]):
    """A response with its participant and its statements."""

    topic = serializers.CharField(source="topic.external_id")
    style = serializers.CharField(source="style.name")  # type: ignore[assignment] # the name of an attribute of fields
    style_version = serializers.IntegerField(source="style.version")
    participant = serializers.CharField(
        source="participant.external_id", help_text="Pseudonym of the participant who wrote it."
    )
    statements = StatementRow(many=True)

    class Meta:
        model = Response
        fields = [
            "external_id",
            "topic",
            "style",
            "style_version",
            "participant",
            "origin",
            "text",
            "words",
            "dropped_citations",
            "is_included",
            "submitted_at",
            "created_at",
            "erased_at",
            "statements",
        ]


class ResponseFilter(django_filters.FilterSet):  # type: ignore[misc] # untyped base class
    """Filters of responses."""

    topic = django_filters.CharFilter(field_name="topic__external_id", help_text="ID of a topic.")
    style = django_filters.CharFilter(field_name="style__name", help_text="Name of a style.")
    participant = django_filters.CharFilter(
        field_name="participant__external_id", help_text="Pseudonym of the participant."
    )
    origin = django_filters.ChoiceFilter(choices=Origin.choices)
    is_included = StrictBooleanFilter(help_text="Whether the response is included in the analysis.")

    class Meta:
        model = Response
        fields: ClassVar[list[str]] = []


class Responses(ListEndpoint):
    """List the responses of a study."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.PEOPLE
    queryset = Response.objects.all()
    serializer_class = ResponseRow
    filterset_class = ResponseFilter

    def rows(self) -> QuerySet[Response]:
        """Return the study's responses with all that is shown of them."""
        return queries.with_statements(Response.objects.filter(study=self.study).with_people())


class OneResponse(Endpoint):
    """A response."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows: ClassVar = AuditedContent.RESPONSE
    serializer_class = ResponseRow

    def get(self, request: Request, study: str, external_id: str) -> Answer:
        """Show a response."""
        responses = queries.with_statements(Response.objects.filter(study=self.study).with_people())
        instance = self.one(responses, external_id=external_id)
        self.about(instance.participant, instance.pk)
        return Answer(ResponseRow(instance).data)


class LogRow(serializers.Serializer[WritingLog]):
    """The writing log of a response."""

    source = serializers.ChoiceField(choices=LogSource.choices)  # type: ignore[assignment] # as above
    started_at = serializers.DateTimeField(allow_null=True, help_text="Time of the event with offset 0.")
    events = serializers.SerializerMethodField()

    @extend_schema_field(
        {
            "type": "array",
            "items": {"type": "array", "items": {}},
            "description": "Events in order, each as [kind, milliseconds, …]. See docs/reference/log-format.md.",
        }
    )
    def get_events(self, log: WritingLog) -> list[Any]:
        """Events in order, each as [kind, milliseconds, …] (docs/reference/log-format.md)."""
        return list(logs.events(log))


class Log(Endpoint):
    """The writing log of a response."""

    needs: ClassVar = {"GET": Need(Role.REVIEWER)}
    shows: ClassVar = AuditedContent.LOG
    serializer_class = LogRow

    def get(self, request: Request, study: str, external_id: str) -> Answer:
        """Show the writing log of a response: all events that led to its text. Responses without a log answer 404."""
        responses = Response.objects.filter(study=self.study, task__log__isnull=False)
        instance = self.one(responses.select_related("participant", "task__log"), external_id=external_id)
        assert instance.task is not None
        self.about(instance.participant, instance.pk)
        try:
            return Answer(LogRow(instance.task.log).data)
        except codec.BrokenLog as error:
            raise Problem("conflict", str(error)) from None

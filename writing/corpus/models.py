"""Topics with their ranked passages, styles, and responses with statements and citations."""

import pgtrigger
from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.utils.text import Truncator

from crowdrag.assignments.terms import within
from crowdrag.studies.models import Decision, Participant, Study, Versioned
from crowdrag.studies.study.models import count_of

from ..enums import LONGEST_TEXT, Origin

LONGEST_TITLE = 80


class TopicQuerySet(models.QuerySet["Topic"]):
    """Queries of topics."""

    def current(self) -> "TopicQuerySet":
        """Keep each topic's latest version."""
        newer = Topic.objects.filter(
            study=models.OuterRef("study"),
            external_id=models.OuterRef("external_id"),
            version__gt=models.OuterRef("version"),
        )
        return self.filter(~models.Exists(newer))

    def matching(self, words: str) -> "TopicQuerySet":
        """Keep topics whose ID or query contains these words."""
        return self.filter(models.Q(query__icontains=words) | models.Q(external_id__icontains=words))

    def with_counts(self) -> "TopicQuerySet":
        """Annotate `passage_count` and `response_count`."""
        return self.annotate(passage_count=count_of(Topic, "retrieved"), response_count=count_of(Topic, "responses"))


class Topic(models.Model):
    """A query that responses answer. Never updated: a changed query is a new version."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="topics")
    external_id = models.CharField("id", max_length=200)
    version = models.PositiveIntegerField("version", default=1)
    query = models.TextField("query")
    narrative = models.TextField("narrative", blank=True)
    created_at = models.DateTimeField("created")

    objects = TopicQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id", "version"], name="topic_version_unique"),
            models.CheckConstraint(condition=~models.Q(external_id=""), name="topic_external_id_not_empty"),
            models.CheckConstraint(condition=~models.Q(query=""), name="topic_query_not_empty"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.external_id}: {self.query}"

    @property
    def title(self) -> str:
        """The query, shortened to one line."""
        return Truncator(self.query).chars(LONGEST_TITLE)


class Passage(models.Model):
    """A passage of the collection. Never updated: a changed text is a new version."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="passages")
    external_id = models.CharField("source id", max_length=300)
    version = models.PositiveIntegerField("version", default=1)
    text = models.TextField("text")
    title = models.TextField("title", blank=True)
    url = models.TextField("address", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id", "version"], name="passage_version_unique"),
            models.CheckConstraint(condition=~models.Q(external_id=""), name="passage_external_id_not_empty"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return self.external_id


class RetrievedPassage(models.Model):
    """A passage retrieved for a topic. Ranks start at 0, like citation markers."""

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="retrieved")
    passage = models.ForeignKey(Passage, models.PROTECT, related_name="retrieved")
    rank = models.PositiveIntegerField()
    score = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["topic", "rank"], name="retrieved_rank_once_per_topic"),
            models.UniqueConstraint(fields=["topic", "passage"], name="retrieved_passage_once_per_topic"),
        ]
        triggers = [
            pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update),
            pgtrigger.Trigger(
                name="same_study",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                declare=[("ok", "boolean")],
                func="""
                    SELECT t.study_id = p.study_id INTO ok FROM writing_topic t, writing_passage p
                        WHERE t.id = NEW.topic_id AND p.id = NEW.passage_id;
                    IF NOT ok THEN
                        RAISE EXCEPTION 'retrieved_passage_same_study: topic and passage are of two studies'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]


class Style(Versioned):
    """A style of responses: bullet, essay, news, or one that the study defines."""

    label = models.CharField("label", max_length=100)
    instructions = models.TextField("instructions, in Markdown", blank=True)
    target_words = models.PositiveIntegerField("Target length (words)", default=250, validators=within(1, 5000))

    class Meta(Versioned.Meta):
        pass


class ResponseQuerySet(models.QuerySet["Response"]):
    """Queries of responses."""

    def included(self) -> "ResponseQuerySet":
        """Keep responses that are included in the analysis."""
        return self.filter(is_included=True)

    def with_people(self) -> "ResponseQuerySet":
        """Select topic, style and participant with each response."""
        return self.select_related("topic", "style", "participant")


class Response(models.Model):
    """A submitted response. Its text never changes; a revision is another response."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="responses")
    external_id = models.CharField("id", max_length=200)
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="responses")
    style = models.ForeignKey(Style, models.PROTECT, related_name="responses")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="responses")
    origin = models.CharField("origin", max_length=10, choices=Origin.choices)
    task = models.OneToOneField("writing.WritingTask", models.PROTECT, null=True, blank=True, related_name="response")
    text = models.TextField("text")
    words = models.PositiveIntegerField("words")
    dropped_citations = models.PositiveIntegerField("citations that match no passage", default=0)
    submitted_at = models.DateTimeField("submitted", null=True, blank=True)
    created_at = models.DateTimeField("stored")
    # The result of the latest decision on inclusion; decisions and their reasons are in `ResponseDecision`.
    is_included = models.BooleanField("included", default=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    objects = ResponseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="response_external_id_unique_per_study"),
            models.CheckConstraint(condition=models.Q(origin__in=Origin.values), name="response_origin_known"),
            models.CheckConstraint(condition=~models.Q(external_id=""), name="response_external_id_not_empty"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("text"), LONGEST_TEXT), name="response_text_within_limit"
            ),
            models.CheckConstraint(
                condition=models.Q(erased_at__isnull=True) | models.Q(text=""), name="response_erased_has_no_text"
            ),
        ]
        indexes = [models.Index(fields=["study", "topic", "style", "origin"], name="response_by_topic")]
        triggers = [
            pgtrigger.Trigger(
                name="text_never_changes",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("text", "topic_id", "style_id", "participant_id", "origin"),  # type: ignore[no-untyped-call]
                func="""
                    IF NEW.erased_at IS NOT NULL AND NEW.text = '' THEN RETURN NEW; END IF;
                    IF ROW(NEW.text, NEW.topic_id, NEW.style_id, NEW.participant_id, NEW.origin) IS DISTINCT FROM
                            ROW(OLD.text, OLD.topic_id, OLD.style_id, OLD.participant_id, OLD.origin) THEN
                        RAISE EXCEPTION 'response_text_never_changes: a revision is another response'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def writer(self) -> str:
        """The author for researchers: the name of a model or system, or the origin for a person. See `with_people`."""
        return str(self.get_origin_display() if self.origin == Origin.HUMAN else self.participant.external_id)

    @property
    def label(self) -> str:
        """The label on researchers' pages: author and style. See `with_people`."""
        return f"{self.writer}, {self.style.label}"

    @staticmethod
    def label_needs(*paths: str) -> list[str]:
        """Return the relations to select for the labels of related responses, for example `label_needs("pair__a")`."""
        return [f"{path}__{name}" for path in paths for name in ("style", "participant")]


class ResponseDecision(Decision):
    """A decision about a response."""

    response = models.ForeignKey(Response, models.CASCADE, related_name="decisions")

    class Meta(Decision.Meta):
        pass


class Statement(models.Model):
    """A statement: code points `start` to `end` of a response's text, and the punctuation after its marker."""

    response = models.ForeignKey(Response, models.CASCADE, related_name="statements")
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    # The punctuation after the marker, for example the full stop of "Leaves fall [0]."
    closing = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["response", "position"], name="statement_position_once_per_response"),
            models.CheckConstraint(condition=models.Q(end__gte=models.F("start")), name="statement_end_after_start"),
        ]


class Citation(models.Model):
    """A citation of a retrieved passage by a statement."""

    statement = models.ForeignKey(Statement, models.CASCADE, related_name="citations")
    retrieved = models.ForeignKey(RetrievedPassage, models.PROTECT, related_name="citations")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["statement", "retrieved"], name="citation_once_per_statement"),
        ]

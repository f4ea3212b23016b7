"""A text for one topic in one style by one participant."""

import pgtrigger
from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Decision, Participant, Study

from ..enums import LONGEST_TEXT, Origin
from .style import Style
from .task import WritingTask
from .topic import Topic


class ResponseQuerySet(models.QuerySet["Response"]):
    """What can be said of responses."""

    def included(self) -> "ResponseQuerySet":
        """Keep those that count in the analysis."""
        return self.filter(is_included=True)

    def with_people(self) -> "ResponseQuerySet":
        """Fetch topic, style and participant along."""
        return self.select_related("topic", "style", "participant")


class Response(models.Model):
    """A response as submitted. The text never changes; a revision is another response."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="responses")
    external_id = models.CharField(_("id"), max_length=200)
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="responses")
    style = models.ForeignKey(Style, models.PROTECT, related_name="responses")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="responses")
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices)
    task = models.OneToOneField(WritingTask, models.PROTECT, null=True, blank=True, related_name="response")
    text = models.TextField(_("text"))
    words = models.PositiveIntegerField(_("words"))
    dropped_citations = models.PositiveIntegerField(_("citations of no passage"), default=0)
    submitted_at = models.DateTimeField(_("submitted"), null=True, blank=True)
    created_at = models.DateTimeField(_("stored"))
    # What the latest decision on inclusion says; the decisions with their reasons are rows of their own.
    is_included = models.BooleanField(_("included"), default=True)
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
        """Whose it is, for researchers: a model or system by its name, a person by the origin. See `with_people`."""
        return str(self.get_origin_display() if self.origin == Origin.HUMAN else self.participant.external_id)

    @property
    def label(self) -> str:
        """What pages of researchers call it: whose it is, and in which style. See `with_people`."""
        return f"{self.writer}, {self.style.label}"

    @staticmethod
    def label_needs(*paths: str) -> list[str]:
        """Return what to fetch along for the labels of responses that rows refer to: `label_needs("pair__a")`."""
        return [f"{path}__{name}" for path in paths for name in ("style", "participant")]


class ResponseDecision(Decision):
    """A decision about a response."""

    response = models.ForeignKey(Response, models.CASCADE, related_name="decisions")

    class Meta(Decision.Meta):
        pass

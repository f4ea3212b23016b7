"""A query with its id."""

import pgtrigger
from django.db import models
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study
from crowdrag.studies.study.models import count_of

LONGEST_TITLE = 80


class TopicQuerySet(models.QuerySet["Topic"]):
    """What can be said of topics."""

    def current(self) -> "TopicQuerySet":
        """Keep each topic's latest version."""
        newer = Topic.objects.filter(
            study=models.OuterRef("study"),
            external_id=models.OuterRef("external_id"),
            version__gt=models.OuterRef("version"),
        )
        return self.filter(~models.Exists(newer))

    def matching(self, words: str) -> "TopicQuerySet":
        """Keep those whose id or query holds these words."""
        return self.filter(models.Q(query__icontains=words) | models.Q(external_id__icontains=words))

    def with_counts(self) -> "TopicQuerySet":
        """Annotate `passage_count` and `response_count`."""
        return self.annotate(passage_count=count_of(Topic, "retrieved"), response_count=count_of(Topic, "responses"))


class Topic(models.Model):
    """A query that responses answer. Never updated: a changed query is a new version."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="topics")
    external_id = models.CharField(_("id"), max_length=200)
    version = models.PositiveIntegerField(_("version"), default=1)
    query = models.TextField(_("query"))
    narrative = models.TextField(_("narrative"), blank=True)
    created_at = models.DateTimeField(_("created"))

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
        """The query, cut to the length of a line."""
        return Truncator(self.query).chars(LONGEST_TITLE)

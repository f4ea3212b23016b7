"""The audit log: who viewed which personal data of participants."""

import pgtrigger
from django.conf import settings
from django.db import models

from crowdrag.studies.enums import AuditedContent
from crowdrag.studies.models import Participant, Study


class AccessLogEntryQuerySet(models.QuerySet["AccessLogEntry"]):
    """Queries of the access log."""

    def newest_first(self) -> "AccessLogEntryQuerySet":
        """Order as in lists."""
        return self.order_by("-at", "-id")


class AccessLogEntry(models.Model):
    """One user was shown participants' data, on a page or through the API.

    A row is written once: the database lets nobody change it, nor delete it in its first year. It has keys and no
    texts, names or platform IDs. So an erasure leaves no personal data here, and the log outlives the study and the
    participant that it names (hence no constraint on either).
    """

    at = models.DateTimeField("when")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name="user")
    study = models.ForeignKey(Study, models.DO_NOTHING, null=True, db_constraint=False, related_name="+")
    study_slug = models.CharField("study", max_length=80, blank=True)
    content = models.CharField("content", max_length=10, choices=AuditedContent.choices)
    # The URL name: which page was shown, without the arguments of the URL.
    page = models.CharField("page", max_length=200)
    participant = models.ForeignKey(Participant, models.DO_NOTHING, null=True, db_constraint=False, related_name="+")
    work_key = models.BigIntegerField("key of the piece of work", null=True)

    objects = AccessLogEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "access log"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(content__in=AuditedContent.values), name="access_log_content_known"
            ),
            models.CheckConstraint(condition=~models.Q(page=""), name="access_log_page_not_empty"),
        ]
        indexes = [
            models.Index(fields=["-at", "-id"], name="access_log_newest"),
            models.Index(fields=["by", "-at"], name="access_log_by_user"),
            models.Index(fields=["study", "-at"], name="access_log_of_study"),
            models.Index(fields=["participant", "-at"], name="access_log_of_participant"),
        ]
        triggers = [
            pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update),
            pgtrigger.Protect(
                name="kept_for_a_year",
                operation=pgtrigger.Delete,
                condition=pgtrigger.Condition("OLD.at > NOW() - INTERVAL '1 year'"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_content_display()}, {self.at:%Y-%m-%d %H:%M}"

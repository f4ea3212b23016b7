"""Saved replies."""

from django.conf import settings
from django.db import models

from ..enums import ReplyKind
from ..study.models import Study


class SavedReply(models.Model):
    """A text that staff reuse."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="saved_replies")
    kind = models.CharField("used for", max_length=10, choices=ReplyKind.choices)
    title = models.CharField("title", max_length=80)
    text = models.TextField("text", max_length=2000)
    updated_at = models.DateTimeField()
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name_plural = "saved replies"
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=ReplyKind.values), name="saved_reply_kind_known"),
            models.CheckConstraint(
                condition=~models.Q(title="") & ~models.Q(text=""), name="saved_reply_has_title_and_text"
            ),
            models.UniqueConstraint(fields=["study", "kind", "title"], name="saved_reply_title_once_per_kind"),
        ]

    def __str__(self) -> str:
        return self.title

"""Tables of the API: stored replies of idempotent requests, and rate limits."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from crowdrag.studies.models import Study


class RateLimitState(models.Model):
    """Until when what somebody has asked for is used up: one row a person, moved by each request."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    used_until = models.DateTimeField()


class IdempotentReply(models.Model):
    """The answer to the request that came with this key: it is given again, and nothing is done twice.

    It commits together with what the request did, so there is no effect without it and no reply without the effect.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    study = models.ForeignKey(Study, models.CASCADE, related_name="+", null=True, blank=True)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)
    stored_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "idempotent replies"
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotent_reply_key_once_per_user"),
            models.CheckConstraint(condition=~Q(key=""), name="idempotent_reply_key_not_empty"),
            models.CheckConstraint(condition=Q(status__gte=200, status__lt=300), name="idempotent_reply_of_success"),
        ]
        indexes = [models.Index(fields=["stored_at"], name="idempotent_reply_by_age")]

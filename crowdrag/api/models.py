"""Stored replies of idempotent requests, and rate limits."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from crowdrag.studies.models import Study


class RateLimitState(models.Model):
    """The state of a user's rate limit: the time until which their allowance is used up, advanced by each request."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    used_until = models.DateTimeField()


class IdempotentReply(models.Model):
    """The stored reply to a request with an idempotency key. A repeated request gets it and has no further effect.

    It is committed together with the request's effect, so neither exists without the other.
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

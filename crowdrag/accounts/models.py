"""API tokens with their scopes, and failed sign-ins."""

import uuid

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from knox.settings import CONSTANTS

from crowdrag.studies.models import Study

from .enums import Scope


class ApiToken(models.Model):
    """One token of one user. The token itself is shown once; only its hash is stored.

    `key` identifies it on pages; `token_key`, its first letters, identifies it for people and the authentication.
    Fields that knox reads have knox's names (`knox.models.AbstractAuthToken`, which comes without types).
    """

    digest = models.CharField(max_length=CONSTANTS.DIGEST_LENGTH, primary_key=True)
    token_key = models.CharField(
        "starts with", max_length=CONSTANTS.MAXIMUM_TOKEN_PREFIX_LENGTH + CONSTANTS.TOKEN_KEY_LENGTH, db_index=True
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="auth_token_set")
    created = models.DateTimeField("created")
    expiry = models.DateTimeField("expires")
    # A token ends when its owner's password changes, like other access.
    password_digest = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    key = models.UUIDField(default=uuid.uuid4, editable=False)
    name = models.CharField(
        "name", max_length=100, help_text="What you use the token for, such as the name of a script."
    )
    last_used_at = models.DateTimeField("last used", null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], name="apitoken_key_unique"),
            models.CheckConstraint(condition=~Q(name=""), name="apitoken_name_not_empty"),
            models.CheckConstraint(condition=Q(expiry__gt=models.F("created")), name="apitoken_ends_after_it_was_made"),
        ]

    def __str__(self) -> str:
        return self.name


class Grant(models.Model):
    """One scope of a token in one study; in all studies of its owner if no study is named."""

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="grants")
    study = models.ForeignKey(Study, models.CASCADE, related_name="+", null=True, blank=True)
    scope = models.CharField("scopes", max_length=10, choices=Scope.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["token", "study", "scope"], name="grant_once_per_token_study_scope", nulls_distinct=False
            ),
            models.CheckConstraint(condition=Q(scope__in=Scope.values), name="grant_scope_known"),
            models.CheckConstraint(
                condition=~Q(scope=Scope.CREATE) | Q(study__isnull=True), name="grant_to_create_names_no_study"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_scope_display()}: {self.study or 'all studies'}"


class SignInFailure(models.Model):
    """A failed sign-in.

    The typed text is not stored: people type passwords into the wrong field. If the address is a user's, the user is
    named; `account_hash` is a keyed hash by which tries for one account are counted, whether it exists or not.
    """

    at = models.DateTimeField("when")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    account_hash = models.CharField("account", max_length=64)
    address = models.GenericIPAddressField("from", null=True)
    # Not even checked, after too many failures.
    was_refused = models.BooleanField("refused (rate limit)", default=False)

    class Meta:
        verbose_name, verbose_name_plural = "failed sign-in", "failed sign-ins"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(account_hash__regex=r"^[0-9a-f]{64}$"), name="sign_in_failure_account_is_a_hash"
            ),
        ]
        indexes = [
            models.Index(fields=["account_hash", "address", "-at"], name="sign_in_failure_of_pair"),
            models.Index(fields=["address", "-at"], name="sign_in_failure_of_address"),
            models.Index(fields=["-at", "-id"], name="sign_in_failure_newest"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"

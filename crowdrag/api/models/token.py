"""What a script shows instead of a password, and what it may do with it."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken

from crowdrag.studies.models import Study

from ..enums import Scope


class ApiToken(AbstractAuthToken):  # type: ignore[misc] # knox comes without types
    """One token of one person. The token itself is shown once; what is kept is its hash.

    `key` is how pages name it; `token_key`, its first letters, is how people and the authentication find it.
    """

    key = models.UUIDField(default=uuid.uuid4, editable=False)
    name = models.CharField(_("name"), max_length=100, help_text=_("What it is for: the name of a script, say."))
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)

    objects = models.Manager["ApiToken"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], name="apitoken_key_unique"),
            models.CheckConstraint(condition=~Q(name=""), name="apitoken_name_not_empty"),
            models.CheckConstraint(condition=Q(expiry__isnull=False), name="apitoken_ends_some_day"),
        ]

    def __str__(self) -> str:
        return self.name


class Grant(models.Model):
    """One thing that a token may be used for in one study; in all studies of its owner where no study is named."""

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="grants")
    study = models.ForeignKey(Study, models.CASCADE, related_name="+", null=True, blank=True)
    scope = models.CharField(_("what for"), max_length=10, choices=Scope.choices)

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
        return f"{self.get_scope_display()}: {self.study or _('all studies')}"

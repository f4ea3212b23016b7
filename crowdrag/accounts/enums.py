"""Enumerations of accounts."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Scope(models.TextChoices):
    """What a token may be used for. It never lets anybody do more than their role in a study does."""

    READ = "READ", _("read")
    WRITE = "WRITE", _("change")
    RUN = "RUN", _("run")
    MANAGE = "MANAGE", _("manage")
    CREATE = "CREATE", _("create studies")

    @property
    def means(self) -> str:
        """What it lets a script do, in one sentence."""
        return str(_MEANS[self])


_MEANS = {
    Scope.READ: _("Read everything that your role in the study allows."),
    Scope.WRITE: _("Change the content of a study: topics, responses, campaigns and decisions."),
    Scope.RUN: _("Start, cancel and resume runs. Some of them cost money."),
    Scope.MANAGE: _("Manage members, publish releases and manage webhooks."),
    Scope.CREATE: _("Create studies, which you then own."),
}

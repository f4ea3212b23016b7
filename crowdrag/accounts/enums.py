"""Enumerations of accounts."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Scope(models.TextChoices):
    """What a token may be used for. It never lets anybody do more than their role in a study does."""

    READ = "READ", _("read")
    WRITE = "WRITE", _("change")
    RUN = "RUN", _("run")
    MANAGE = "MANAGE", _("manage")
    CREATE = "CREATE", _("make studies")

    @property
    def means(self) -> str:
        """What it lets a script do, in one sentence."""
        return str(_MEANS[self])


_MEANS = {
    Scope.READ: _("Read all that your role in the study lets you read."),
    Scope.WRITE: _("Change what the study holds: topics, responses, campaigns, decisions."),
    Scope.RUN: _("Start, cancel and resume long work; some of it costs money."),
    Scope.MANAGE: _("Say who is a member, publish releases, tell other systems of what ends."),
    Scope.CREATE: _("Make new studies, which you own."),
}

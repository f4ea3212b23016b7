"""Enumerations of accounts."""

from django.db import models


class Scope(models.TextChoices):
    """What a token may be used for. It never allows more than its owner's role in a study."""

    READ = "READ", "read"
    WRITE = "WRITE", "change"
    RUN = "RUN", "run"
    MANAGE = "MANAGE", "manage"
    CREATE = "CREATE", "create studies"

    @property
    def means(self) -> str:
        """What it allows a script to do, in one sentence."""
        return str(_MEANS[self])


_MEANS = {
    Scope.READ: "Read everything that your role in the study allows.",
    Scope.WRITE: "Change the content of a study: topics, responses, campaigns and decisions.",
    Scope.RUN: "Start, cancel and resume runs. Some of them cost money.",
    Scope.MANAGE: "Manage members, publish releases and manage webhooks.",
    Scope.CREATE: "Create studies, which you then own.",
}

"""A span of a response up to its citation marker, with the passages that it cites."""

from django.db import models

from .response import Response
from .retrieval import RetrievedPassage


class Statement(models.Model):
    """Characters `start` to `end` (code points) of a response's text, and what closes them behind the marker."""

    response = models.ForeignKey(Response, models.CASCADE, related_name="statements")
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    # The punctuation right after the marker: the full stop of "Leaves fall [0]."
    closing = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["response", "position"], name="statement_position_once_per_response"),
            models.CheckConstraint(condition=models.Q(end__gte=models.F("start")), name="statement_end_after_start"),
        ]


class Citation(models.Model):
    """A statement cites a passage of its topic's list."""

    statement = models.ForeignKey(Statement, models.CASCADE, related_name="citations")
    retrieved = models.ForeignKey(RetrievedPassage, models.PROTECT, related_name="citations")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["statement", "retrieved"], name="citation_once_per_statement"),
        ]

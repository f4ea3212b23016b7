"""How alike two texts are by an encoder."""

from django.db import models
from django.db.models import F, Q

from .encoder import Encoder


class Likeness(models.Model):
    """BERTScore of two texts of a topic, each by its digest, the lower one first.

    `precision` and `recall` are of the first text as candidate; the other way round they are swapped, and F1 is the
    same. Null where the score is undefined: one of the texts is empty.
    """

    encoder = models.ForeignKey(Encoder, models.CASCADE, related_name="likenesses")
    first = models.CharField(max_length=32)
    second = models.CharField(max_length=32)
    precision = models.FloatField(null=True)
    recall = models.FloatField(null=True)
    f1 = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["encoder", "first", "second"], name="likeness_once_per_pair"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="likeness_lower_first"),
        ]

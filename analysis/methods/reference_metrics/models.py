"""Encoders, stored encodings of texts, and similarity scores."""

from django.db import models
from django.db.models import F, Q

from crowdrag.studies.models import Study


class Encoder(models.Model):
    """A model, one of its layers, and the version of its files; encodings of different encoders cannot be compared."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="encoders")
    model = models.CharField(max_length=300)
    layer = models.PositiveSmallIntegerField()
    version = models.CharField(max_length=40)
    used_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "model", "layer", "version"], name="encoder_once_per_study"),
        ]

    def __str__(self) -> str:
        return f"{self.model}, layer {self.layer}"


class Encoding(models.Model):
    """Token embeddings of a text (docs/methods/bertscore.md).

    `text` is the digest of the response's text, as in inputs; the payload is packed by `encodings.pack`. Embeddings
    reveal much of the text, so they are deleted when the text is erased.
    """

    encoder = models.ForeignKey(Encoder, models.CASCADE, related_name="encodings")
    text = models.CharField(max_length=32)
    tokens = models.PositiveIntegerField()
    is_truncated = models.BooleanField(default=False)
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["encoder", "text"], name="encoding_once_per_text")]


class SimilarityScore(models.Model):
    """BERTScore of two texts of a topic, each given by its digest, the lower digest first.

    `precision` and `recall` have the first text as candidate; the other way round they are swapped, and F1 is the same.
    Null if the score is undefined because one of the texts is empty.
    """

    encoder = models.ForeignKey(Encoder, models.CASCADE, related_name="similarity_scores")
    first = models.CharField(max_length=32)
    second = models.CharField(max_length=32)
    precision = models.FloatField(null=True)
    recall = models.FloatField(null=True)
    f1 = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["encoder", "first", "second"], name="similarity_score_once_per_pair"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="similarity_score_lower_first"),
        ]

"""A text as an encoder sees it, kept so that it is encoded once."""

from django.db import models

from .encoder import Encoder


class Encoding(models.Model):
    """The embeddings of a text's tokens (docs/methods/bertscore.md).

    `text` is the digest under which the response's text stands in inputs; the payload is packed by
    `domain.similarity.keeping`. It says much of what the text said, and goes with it when it is erased.
    """

    encoder = models.ForeignKey(Encoder, models.CASCADE, related_name="encodings")
    text = models.CharField(max_length=32)
    tokens = models.PositiveIntegerField()
    is_cut = models.BooleanField(default=False)
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["encoder", "text"], name="encoding_once_per_text")]

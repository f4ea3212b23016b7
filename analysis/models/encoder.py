"""What encoded the texts of a study."""

from django.db import models

from crowdrag.studies.models import Study


class Encoder(models.Model):
    """A model, a layer of it, and which files it was: what it made can be compared with nothing else."""

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

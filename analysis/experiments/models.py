"""Results of an experiment's units, and stored outputs of models in a worker's process."""

import pgtrigger
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study


class UnitResult(models.Model):
    """One result of an experiment's unit. Its key is unique in the run (docs/methods/experiments.md).

    `usage` counts the calls to generators for it, by the field names of `analysis.rag.protocols.Usage`.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="unit_results")
    key = models.CharField(max_length=300)
    data = models.JSONField(encoder=DjangoJSONEncoder)
    usage = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="unit_result_once_per_key")]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class CachedOutput(models.Model):
    """A generator's output to one prompt, or the likelihood of a text after one (docs/guides/gpu.md).

    `digest` is the SHA-256 of the generator's name and the whole prompt, so that equal requests share one row. The
    prompt itself is not stored. The gateway stores its own calls (crowdrag/llm).
    """

    digest = models.CharField(max_length=64, unique=True)
    generator = models.CharField(max_length=400)
    # The first study that asked; the row is deleted with it. Empty: asked without texts of a study.
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="cached_outputs")
    text = models.TextField(blank=True)
    # Mean log-likelihood per token (nats) of a given text; null for generated texts.
    likelihood = models.FloatField(null=True, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(digest__regex=r"^[0-9a-f]{64}$"), name="cached_output_digest_is_sha256"),
        ]

    def __str__(self) -> str:
        return self.digest[:12]

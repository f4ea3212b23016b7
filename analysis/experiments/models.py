"""What an experiment found at a unit, and what a model in a worker's process wrote."""

import pgtrigger
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study


class UnitResult(models.Model):
    """One result of an experiment's unit, under a key that is unique in its run (docs/methods/experiments.md).

    `usage` is what generators were asked for it: counts by the names of `analysis.rag.protocols.Usage`.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="unit_results")
    key = models.CharField(max_length=300)
    data = models.JSONField(encoder=DjangoJSONEncoder)
    usage = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="unit_result_once_per_key")]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class CachedOutput(models.Model):
    """A generator's output to one prompt, or how likely it found a text after one (docs/guides/gpu.md).

    `digest` is the SHA-256 of the generator's name and all of the prompt, so that whatever asks the same finds it; the
    prompt itself is not kept. Calls through the gateway are kept there (crowdrag/llm).
    """

    digest = models.CharField(max_length=64, unique=True)
    generator = models.CharField(max_length=400)
    # The study that asked first; its deletion takes the texts along. Empty: asked for no study's texts.
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="cached_outputs")
    text = models.TextField(blank=True)
    # Mean log-likelihood per token (nats) of a given text; null where a text was written.
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

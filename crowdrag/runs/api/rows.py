"""Runs as endpoints show them."""

from typing import Any

from rest_framework import serializers

from .. import kinds
from ..models import Artifact, Run


class RunRow(serializers.ModelSerializer[Run]):
    """A run, with how many of its units are done: rows come with `with_unit_counts`."""

    title = serializers.SerializerMethodField(help_text="What its kind is called.")
    units_total = serializers.SerializerMethodField()
    units_done = serializers.SerializerMethodField()
    units_failed = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = [
            "key",
            "kind",
            "title",
            "queue",
            "state",
            "units_total",
            "units_done",
            "units_failed",
            "parameters",
            "seed",
            "inputs_digest",
            "code_version",
            "error",
            "problems",
            "summary",
            "created_at",
            "started_at",
            "finished_at",
            "stale_at",
            "stale_reason",
        ]
        extra_kwargs = {
            "problems": {
                "help_text": "What was wrong with the input: a row each. Of a run that is done: its faulty rows."
            },
            "stale_at": {"help_text": "Since when its inputs are not what they were."},
        }

    def get_title(self, run: Run) -> str:
        """Return what its kind is called."""
        return kinds.title(run.kind)

    def get_units_total(self, run: Any) -> int:
        """Return how many units it has."""
        return run.units_total or 0

    def get_units_done(self, run: Any) -> int:
        """Return how many are done."""
        return run.units_done or 0

    def get_units_failed(self, run: Any) -> int:
        """Return how many failed."""
        return run.units_failed or 0


class ArtifactRow(serializers.ModelSerializer[Artifact]):
    """A file that a run made."""

    class Meta:
        model = Artifact
        fields = ["name", "media_type", "size", "sha256", "created_at"]

"""Whether the judgments that count are still those that a run used: a few sums, not a comparison row by row."""

from typing import Any

from django.db.models import BigIntegerField, Count, F, Sum

from annotation.models import Judgment
from crowdrag.studies.models import Study
from writing.models import Response


def mark(study: Study) -> dict[str, int]:
    """Sums over the judgments and responses that count now; whoever adds, excludes or changes one changes a sum."""
    big = BigIntegerField()
    judgments = Judgment.objects.of_study(study).counted()
    sums: dict[str, Any] = judgments.aggregate(
        judgments=Count("id"),
        ids=Sum(F("id") + 0, output_field=big),
        answers=Sum(F("id") * F("value"), output_field=big),
    )
    responses = Response.objects.filter(study=study).included()
    sums |= responses.aggregate(responses=Count("id"), response_ids=Sum(F("id") + 0, output_field=big))
    return {name: value or 0 for name, value in sums.items()}

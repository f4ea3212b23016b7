"""What a study's home says of judging."""

from typing import Any

from crowdrag.studies.models import Study

from ..models import Campaign


def card(study: Study) -> dict[str, Any]:
    """Return the study's campaigns with how much each collected."""
    return {"campaigns": Campaign.objects.filter(study=study).with_counts().order_by("-created_at", "id")}

"""What a study's home says of judging."""

from typing import Any

from crowdrag.studies.models import Study

from . import live


def card(study: Study) -> dict[str, Any]:
    """Return the study's campaigns with how each stands."""
    return {"campaigns": live.glance(study)}

"""What a study's home says of writing."""

from typing import Any

from django.db.models import Avg, Count

from crowdrag.studies.models import Study

from ..models import Passage, Response, Topic


def card(study: Study) -> dict[str, Any]:
    """Return the study's counts of topics, passages, and responses by style and origin."""
    groups = Response.objects.filter(study=study).values("style__label", "origin")
    rows = groups.annotate(n=Count("pk"), words=Avg("words")).order_by("style__label", "origin")
    return {
        "topics": Topic.objects.filter(study=study).current().count(),
        "passages": Passage.objects.filter(study=study).count(),
        "responses": [row | {"origin_label": _origin(row["origin"])} for row in rows],
    }


def _origin(value: str) -> str:
    return str(dict(Response._meta.get_field("origin").flatchoices)[value])

"""What a study's home says of writing."""

from typing import Any

from django.db.models import Avg, Count

from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import EntryLink, Study

from ..models import Passage, Response, Topic
from . import progress


def card(study: Study) -> dict[str, Any]:
    """Return the study's counts of topics, passages, and responses by style and origin."""
    groups = Response.objects.filter(study=study, erased_at__isnull=True).values("style__label", "origin")
    rows = groups.annotate(n=Count("pk"), words=Avg("words")).order_by("style__label", "origin")
    return {
        "topics": Topic.objects.filter(study=study).current().count(),
        "passages": Passage.objects.filter(study=study).count(),
        "responses": [row | {"origin_label": _origin(row["origin"])} for row in rows],
    }


def progress_card(study: Study) -> dict[str, Any]:
    """Return how far people's writing is, and the link by which anybody may try it."""
    open_links = EntryLink.objects.filter(study=study, purpose="writing", kind=EntryKind.OPEN, closed_at__isnull=True)
    link = open_links.filter(expires_at__isnull=True).order_by("-pk").first()
    return {**progress.glance(study), "link": link}


def _origin(value: str) -> str:
    return str(dict(Response._meta.get_field("origin").flatchoices)[value])

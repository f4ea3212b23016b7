"""What a study's home says of its people."""

from typing import Any

from django.db.models import QuerySet

from ..models import Arrival, Consent, EntryLink, Study
from . import enquiring


def people(study: Study) -> dict[str, Any]:
    """Count who was invited, who came and who agreed, and what waits for an answer.

    Whoever had all erased is left out, since how they came was erased too; whoever agreed has come.
    """
    invited = EntryLink.objects.invitations().filter(study=study)
    agreed = _people(Consent.objects.filter(participant__study=study))
    return {
        "invited": len(_people(invited)),
        "arrived": len(_people(Arrival.objects.filter(link__study=study)) | agreed),
        "consented": len(agreed),
        "waiting": enquiring.unanswered(study),
    }


def _people(rows: "QuerySet[Any, Any]") -> set[int]:
    present = rows.filter(participant__erased_at__isnull=True).order_by()
    return set(present.values_list("participant", flat=True).distinct())

"""What a study's home says of its people."""

from typing import Any

from ..enums import EntryKind
from ..models import Arrival, Consent, EntryLink, Study
from . import enquiring


def people(study: Study) -> dict[str, Any]:
    """Count who was invited, who came and who agreed, and what waits for an answer."""
    invited = EntryLink.objects.filter(study=study, kind=EntryKind.PERSONAL, created_by__isnull=False)
    return {
        "invited": invited.values("participant").distinct().count(),
        "arrived": Arrival.objects.filter(link__study=study).values("participant").distinct().count(),
        "consented": Consent.objects.filter(participant__study=study).values("participant").distinct().count(),
        "waiting": enquiring.unanswered(study),
    }

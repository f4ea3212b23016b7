"""A participant's progress and earnings in a study.

The participant's dashboard, with a section for each activity and the total earnings; and the participants card on a
study's overview.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from .. import activities
from ..entry.models import Arrival, EntryLink
from ..messages import services
from ..study.models import Study
from . import consents
from .models import Consent, Participant


@dataclass(frozen=True)
class ActivitySection:
    """An activity as one participant sees it; `card` is the context of its template.

    `title` is the participant's name for it, which may differ from the researchers' if there are many of its kind.
    """

    activity: activities.Activity
    title: str
    card: dict[str, Any]
    has_consented: bool
    is_offered: bool


@dataclass(frozen=True)
class ParticipantDashboard:
    """All activity sections, the total earnings in minor units, and the sections of other apps."""

    parts: list[ActivitySection]
    earned: int
    sections: list[dict[str, Any]]


# Returns a section's context for a participant; None if there is nothing to show.
SectionContext = Callable[[Participant], dict[str, Any] | None]
_sections: list[tuple[str, SectionContext]] = []


def register_section(template: str, context: SectionContext) -> None:
    """Add a section that belongs to no activity, with its template; called once from an app's `ready`."""
    _sections.append((template, context))


def build(participant: Participant) -> ParticipantDashboard:
    """Return the sections of every activity that the study offers or that the participant entered for."""
    came_for = set(participant.arrivals.values_list("link__purpose", flat=True))
    parts = []
    for activity in activities.of_participant(participant):
        offer = activity.offer(participant.study)
        if offer is None and activity.name not in came_for:
            continue
        consented = offer is not None and consents.is_given(participant=participant, text=offer.consent_text)
        card = {"template": activity.template, **activity.context(participant)}
        title = offer.title if offer else str(activity.label)
        parts.append(ActivitySection(activity, title, card, consented, offer is not None and offer.is_open))
    shown = [(template, context(participant)) for template, context in _sections]
    sections = [{"template": template, **values} for template, values in shown if values is not None]
    return ParticipantDashboard(parts, sum(part.card.get("earned", 0) for part in parts), sections)


def people_card(study: Study) -> dict[str, Any] | None:
    """Count who was invited, arrived and consented, and the unanswered messages; None if there are no participants.

    Erased participants are left out, since their arrivals were erased too. Whoever consented has arrived.
    """
    invited = EntryLink.objects.invitations().filter(study=study)
    agreed = _participant_keys(Consent.objects.filter(participant__study=study))
    counts = {
        "invited": len(_participant_keys(invited)),
        "arrived": len(_participant_keys(Arrival.objects.filter(link__study=study)) | agreed),
        "consented": len(agreed),
        "waiting": services.count_unanswered(study),
    }
    return counts if any(counts.values()) else None


def _participant_keys(rows: "QuerySet[Any, Any]") -> set[int]:
    present = rows.filter(participant__erased_at__isnull=True).order_by()
    return set(present.values_list("participant", flat=True).distinct())

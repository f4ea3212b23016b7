"""A participant's progress and earnings in a study.

The first is their own page, with each activity's part of it and what they earned in all; the second the card of people
on a study's home.
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
    """An activity as one participant sees it; `card` is what its template shows.

    `title` is what it is called to them, which for an activity of many is not what the researchers call it.
    """

    activity: activities.Activity
    title: str
    card: dict[str, Any]
    has_consented: bool
    is_offered: bool


@dataclass(frozen=True)
class ParticipantDashboard:
    """All parts, the sum of what was earned, in minor units, and the sections of other apps."""

    parts: list[ActivitySection]
    earned: int
    sections: list[dict[str, Any]]


# What a section shows of a participant; None where there is nothing to show.
SectionContext = Callable[[Participant], dict[str, Any] | None]
_sections: list[tuple[str, SectionContext]] = []


def register_section(template: str, context: SectionContext) -> None:
    """Add a section that is no activity's, with its template; called once from an app's `ready`."""
    _sections.append((template, context))


def build(participant: Participant) -> ParticipantDashboard:
    """Return the parts of every activity that the study offers, or by which this person came."""
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


def people_card(study: Study) -> dict[str, Any]:
    """Count who was invited, who came and who agreed, and what waits for an answer.

    Whoever had all erased is left out, since how they came was erased too; whoever agreed has come.
    """
    invited = EntryLink.objects.invitations().filter(study=study)
    agreed = _participant_keys(Consent.objects.filter(participant__study=study))
    return {
        "invited": len(_participant_keys(invited)),
        "arrived": len(_participant_keys(Arrival.objects.filter(link__study=study)) | agreed),
        "consented": len(agreed),
        "waiting": services.count_unanswered(study),
    }


def _participant_keys(rows: "QuerySet[Any, Any]") -> set[int]:
    present = rows.filter(participant__erased_at__isnull=True).order_by()
    return set(present.values_list("participant", flat=True).distinct())

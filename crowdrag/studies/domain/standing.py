"""Where a participant stands in a study: each way's part of their own page, and what they earned in all."""

from dataclasses import dataclass
from typing import Any

from .. import ways
from ..models import Participant
from . import consenting


@dataclass(frozen=True)
class Part:
    """A way as one participant sees it; `card` is what its template shows.

    `title` is what it is called to them, which for a way of many is not what the researchers call it.
    """

    way: ways.Way
    title: str
    card: dict[str, Any]
    has_consented: bool
    is_offered: bool


@dataclass(frozen=True)
class Standing:
    """All parts, and the sum of what was earned, in minor units."""

    parts: list[Part]
    earned: int


def of(participant: Participant) -> Standing:
    """Return the parts of every way that the study offers, or by which this person came."""
    came_for = set(participant.arrivals.values_list("link__purpose", flat=True))
    parts = []
    for way in ways.of(participant):
        offer = way.offer(participant.study)
        if offer is None and way.name not in came_for:
            continue
        consented = offer is not None and consenting.holds(participant=participant, text=offer.consent_text)
        card = {"template": way.template, **way.context(participant)}
        title = offer.title if offer else str(way.label)
        parts.append(Part(way, title, card, consented, offer is not None and offer.is_open))
    return Standing(parts, sum(part.card.get("earned", 0) for part in parts))

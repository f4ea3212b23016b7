"""What a person can take part in: each app registers its own way, so that the pages for people need not know the apps.

A way is what an entry link is for (`EntryLink.purpose`). It says what it offers before anything else happens, and shows
its part of the participant's own page.

Each app also registers what must happen to its own rows when somebody leaves: `register_leaver` for work in flight
(somebody else gets it), `register_eraser` for what they gave (it goes). Both are called with the participant's row
locked, inside one transaction, and must be safe to call again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise

from .models import ConsentText, Participant, Study


@dataclass(frozen=True)
class Offer:
    """What somebody is told before they decide to take part. Money in minor units of the study's currency."""

    title: str
    what: str
    minutes: int
    pay: int
    # What the pay is for: "per response".
    per: str
    consent_text: ConsentText
    is_open: bool = True


@dataclass(frozen=True)
class Way:
    """A way of taking part.

    Attributes
    ----------
    name
        what entry links call it, as in `writing`.
    offer
        what it offers at present; None where the study has not set it up.
    start
        name of the URL where the work begins, reversed with `taking_part=study.slug`.
    template, context
        its part of the participant's own page, as with `nav.register_card`. What the context calls `earned`, in minor
        units, goes into the sum at the top of the page.
    desk
        where researchers look at a piece of work that a participant names in an enquiry; empty where it is none of
        theirs.
    remedy
        where they take back the decision that a participant contests; empty where nothing is to be taken back.
    about_label
        what that piece of work is called where people read; empty where it is none of theirs.
    owed
        what somebody has earned this way, in minor units: the same figure as `earned`, where nothing else is shown.
    """

    name: str
    label: str | Promise
    offer: Callable[[Study], Offer | None]
    start: str
    template: str
    context: Callable[[Participant], dict[str, Any]]
    desk: Callable[[Participant, str], str] = lambda _participant, _about: ""
    remedy: Callable[[Participant, str], str] = lambda _participant, _about: ""
    about_label: Callable[[Participant, str], str] = lambda _participant, _about: ""
    owed: Callable[[Participant], int] = lambda _participant: 0


Leaving = Callable[[Participant, datetime], None]

_ways: dict[str, Way] = {}
_leavers: list[Leaving] = []
_erasers: list[Leaving] = []


def register_way(way: Way) -> None:
    """Add a way; called once from an app's `ready`."""
    _ways[way.name] = way


def get(name: str) -> Way | None:
    """Return the way of this name, if an app registered it."""
    return _ways.get(name)


def every() -> list[Way]:
    """Return all ways, in the order in which the apps registered them."""
    return list(_ways.values())


def latest(participant: Participant) -> Way | None:
    """Return the way for which somebody came last; the first that the study offers, where that is not known."""
    purpose = participant.arrivals.order_by("-last_at", "-pk").values_list("link__purpose", flat=True).first()
    offered = (way for way in every() if way.offer(participant.study))
    return _ways.get(purpose or "") or next(offered, None)


def about_label(participant: Participant, about: str) -> str:
    """Return what people call the work that an enquiry is about; as it was named, where no way knows it."""
    return next(filter(None, (way.about_label(participant, about) for way in every())), about) if about else ""


def owed(participant: Participant) -> int:
    """Return what somebody has earned in all ways, in minor units of the study's currency."""
    return sum(way.owed(participant) for way in every())


def register_leaver(leaver: Leaving) -> None:
    """Add what is done when somebody stops taking part, erasure or not: give back what they had begun."""
    _leavers.append(leaver)


def register_eraser(eraser: Leaving) -> None:
    """Add what is done when somebody has all that they gave erased; the leavers were called before."""
    _erasers.append(eraser)


def leavers() -> list[Leaving]:
    """Return what is done when somebody stops taking part."""
    return list(_leavers)


def erasers() -> list[Leaving]:
    """Return what is done when what somebody gave is erased: upper apps first, since they lean on lower ones."""
    return list(reversed(_erasers))

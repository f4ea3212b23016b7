"""Activities: what a participant can do in a study. Each app registers its own.

An activity is what an entry link is for (`EntryLink.purpose`). It says what it offers before anything else happens, and
shows its part of the participant's own page. A study may have several activities of one kind: writing is one, each
campaign of judgments is one of its own, with its own pay and consent. Whether one can be opened to people, its app says
with a `Readiness`.

Each app also registers what must happen to its own rows when somebody leaves: `on_withdraw` for work in flight
(somebody else gets it), `on_erase` for what they gave (it goes). Both are called with the participant's row locked,
inside one transaction, and must be safe to call again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise

from .enums import ParticipantKind
from .models import ConsentText, Participant, Study


@dataclass(frozen=True)
class Offer:
    """What somebody is told before they decide to take part. Money in minor units of the study's currency."""

    title: str
    what: str | Promise
    minutes: int
    pay: int
    # What the pay is for: "per response".
    per: str
    consent_text: ConsentText
    is_open: bool = True
    # What stays of it where somebody has erased what they gave; empty where nothing does.
    stays: str = ""
    # That one may do it more than once; a visit from a recruitment platform stands for one, and is not told.
    repeats: str = ""


@dataclass(frozen=True)
class Activity:
    """An activity: a way of taking part.

    Attributes
    ----------
    name
        what entry links call it, as in `writing` or `judging-12`.
    offer
        what it offers at present; None where the study has not set it up.
    start, start_args
        name of the URL where the work begins, and what it is reversed with besides the study's short name.
    template, context
        its part of the participant's own page, as with `navigation.register_card`. What the context calls
        `earned`, in minor units, goes into the sum at the top of the page.
    review_url
        where researchers look at a piece of work that a participant names in a message; empty where it is none of
        theirs.
    remedy
        where they take back the decision that a participant contests; empty where nothing is to be taken back.
    about_label
        what that piece of work is called where people read; empty where it is none of theirs.
    owed
        what somebody has earned this way, in minor units: the same figure as `earned`, where nothing else is shown.
    is_full
        whether all of it is done or taken, so that nobody new would get anything soon: they are told before they agree
        to anything. It is asked only of those who come new.
    awaited
        what they get besides if all is accepted that waits for a decision, in minor units.
    erasure
        what becomes of what somebody gave this way if they have it erased, in sentences for them; none where they gave
        nothing.
    kind
        as what people are listed whom a researcher invites.
    is_by_link_only
        whether only those see it and may begin who came by a link that is for it.
    """

    name: str
    label: str | Promise
    offer: Callable[[Study], Offer | None]
    start: str
    template: str
    context: Callable[[Participant], dict[str, Any]]
    review_url: Callable[[Participant, str], str] = lambda _participant, _about: ""
    remedy: Callable[[Participant, str], str] = lambda _participant, _about: ""
    about_label: Callable[[Participant, str], str] = lambda _participant, _about: ""
    owed: Callable[[Participant], int] = lambda _participant: 0
    is_full: Callable[[], bool] = lambda: False
    awaited: Callable[[Participant], int] = lambda _participant: 0
    erasure: Callable[[Participant], list[str]] = lambda _participant: []
    start_args: tuple[Any, ...] = ()
    kind: ParticipantKind = ParticipantKind.CROWD
    is_by_link_only: bool = False

    def address(self, study: Study) -> str:
        """Return where the work begins."""
        return reverse(self.start, args=[study.slug, *self.start_args])


# The activities of one kind that a study has.
ActivityProvider = Callable[[Study], list[Activity]]
ParticipantHook = Callable[[Participant, datetime], None]

# By the beginning of its activities' names.
_providers: dict[str, ActivityProvider] = {}
_withdraw_hooks: list[ParticipantHook] = []
_erase_hooks: list[ParticipantHook] = []
_erasure_request_hooks: list[ParticipantHook] = []


def register_activities(prefix: str, provider: ActivityProvider) -> None:
    """Add activities that depend on the study, whose names begin with `prefix`; called once from an app's `ready`."""
    _providers[prefix] = provider


def register_activity(activity: Activity) -> None:
    """Add an activity that every study has; called once from an app's `ready`."""
    register_activities(activity.name, lambda _study: [activity])


def of_study(study: Study) -> list[Activity]:
    """Return all activities of a study, in the order in which the apps registered them."""
    return [activity for provider in _providers.values() for activity in provider(study)]


def get(study: Study, name: str) -> Activity | None:
    """Return the study's activity of this name, if it has one."""
    # Only those are asked that may know it: this stands in the way of every page of people who take part.
    matching = (
        activity for prefix, provider in _providers.items() if name.startswith(prefix) for activity in provider(study)
    )
    return next((activity for activity in matching if activity.name == name), None)


def of_participant(participant: Participant) -> list[Activity]:
    """Return the activities that are somebody's: those by which they came, and those that the study offers to all.

    Who came only by links that are for activities of their own, to judge say, is not asked for anything else; what
    came of something else that they gave already they see.
    """
    came_for = set(participant.arrivals.values_list("link__purpose", flat=True))
    activities = of_study(participant.study)
    theirs = [activity for activity in activities if activity.name in came_for]
    if theirs and all(activity.is_by_link_only for activity in theirs):
        return [activity for activity in activities if activity in theirs or activity.erasure(participant)]
    return [activity for activity in activities if activity.name in came_for or not activity.is_by_link_only]


def get_for(participant: Participant, name: str) -> Activity | None:
    """Return the activity of this name, if the study has it and this person may know of it."""
    activity = get(participant.study, name)
    if activity is None or (activity.is_by_link_only and not participant.arrivals.filter(link__purpose=name).exists()):
        return None
    return activity


def latest(participant: Participant) -> Activity | None:
    """Return the activity for which somebody came last; the first that the study offers, where that is not known."""
    purpose = participant.arrivals.order_by("-last_at", "-pk").values_list("link__purpose", flat=True).first()
    offered = (activity for activity in of_participant(participant) if activity.offer(participant.study))
    return get(participant.study, purpose or "") or next(offered, None)


def about_label(participant: Participant, about: str, known: list[Activity] | None = None) -> str:
    """Return what people call the work that a message is about; as it was named, where no activity knows it.

    `known` are the study's activities, for whoever asks for many.
    """
    if not about:
        return ""
    known_activities = of_study(participant.study) if known is None else known
    return next(filter(None, (activity.about_label(participant, about) for activity in known_activities)), about)


def owed(participant: Participant) -> int:
    """Return what somebody has earned in all activities, in minor units of the study's currency."""
    return sum(activity.owed(participant) for activity in of_study(participant.study))


def pending(participant: Participant) -> int:
    """Return what waits for a decision in all activities, in minor units of the study's currency."""
    return sum(activity.awaited(participant) for activity in of_study(participant.study))


def erasure_notes(participant: Participant) -> list[str]:
    """Return what becomes of what somebody gave if they have it erased, each sentence once."""
    return list(
        dict.fromkeys(note for activity in of_study(participant.study) for note in activity.erasure(participant))
    )


def on_withdraw(leaver: ParticipantHook) -> None:
    """Add what is done when somebody stops taking part, erasure or not: give back what they had begun."""
    _withdraw_hooks.append(leaver)


def on_erase(eraser: ParticipantHook) -> None:
    """Add what is done when somebody has all that they gave erased; the hooks of `on_withdraw` were called before."""
    _erase_hooks.append(eraser)


def on_erasure_request(starter: ParticipantHook) -> None:
    """Add what starts an erasure that somebody asked for; it is called in the transaction that notes the request."""
    _erasure_request_hooks.append(starter)


def erasure_request_hooks() -> list[ParticipantHook]:
    """Return what starts an erasure that somebody asked for."""
    return list(_erasure_request_hooks)


def withdraw_hooks() -> list[ParticipantHook]:
    """Return what is done when somebody stops taking part."""
    return list(_withdraw_hooks)


def erase_hooks() -> list[ParticipantHook]:
    """Return what is done when what somebody gave is erased: upper apps first, since they lean on lower ones."""
    return list(reversed(_erase_hooks))


@dataclass(frozen=True)
class Readiness:
    """What keeps something from being opened, and what one should know before one opens it."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        """Whether it can be opened."""
        return not self.problems


def undisclosed(study: Study) -> list[str]:
    """Say what people should know of those who ask them, and are not told."""
    missing = {
        "who the researchers are": study.researchers,
        "how to contact you": study.contact,
        "how and when they are paid": study.payment,
        "how long you keep their data": study.retention,
    }
    if not (names := [name for name, text in missing.items() if not text]):
        return []
    return [
        "People are not told {what}. Add it on the page “Description”. They read it before they consent.".format(
            what=", ".join(names)
        )
    ]

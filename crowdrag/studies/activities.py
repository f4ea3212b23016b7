"""Activities: what a participant can do in a study. Each app registers its own.

An entry link is for one activity (`EntryLink.purpose`). An activity says what it offers before anything else happens,
and shows its section of the participant's dashboard. A study may have several activities of one kind: writing is one,
and each campaign is another, with its own pay and consent. The app of an activity says with a `Readiness` whether it
can be opened to participants.

Each app also registers what must happen to its own rows when a participant leaves: `on_withdraw` for work in progress
(it is reassigned), `on_erase` for submitted data (they are erased). Both are called with the participant's row locked,
inside one transaction, and must be idempotent.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from .enums import ParticipantKind
from .models import ConsentText, Participant, Study


@dataclass(frozen=True)
class Offer:
    """What people are told before they decide to take part. Money in minor units of the study's currency."""

    title: str
    what: str | Promise
    minutes: int
    pay: int
    # The unit of pay: "per response".
    per: str
    consent_text: ConsentText
    is_open: bool = True
    # What remains after a participant has their data erased; empty if nothing remains.
    stays: str = ""
    # Says that the activity can be done more than once. Not shown to visitors from a recruitment platform: one visit,
    # once.
    repeats: str = ""


_WRITTEN: Final = gettext_lazy("What I write may be published under the licence %(licence)s.")


@dataclass(frozen=True)
class Activity:
    """An activity that participants can do.

    Attributes
    ----------
    name
        the name in entry links, such as `writing` or `judging-12`.
    offer
        the current offer; None if the study has not set the activity up.
    start, start_args
        the URL name of the start page, and its arguments besides the study's short name.
    template, context
        its section of the participant's dashboard, as with `navigation.register_card`. The context's `earned`, in minor
        units, is added to the total at the top of the page.
    review_url
        returns where researchers review the piece of work that a message is about; empty if it is not of this activity.
    remedy
        returns where they reverse the decision that a participant contests; empty if there is nothing to reverse.
    about_label
        returns the label of that piece of work; empty if it is not of this activity.
    owed
        what the participant has earned in this activity, in minor units: the same figure as `earned`, without the rest.
    is_full
        whether all work is done or assigned, so that a new participant would get nothing soon. They are told before
        they agree to anything. Evaluated only for new participants.
    awaited
        what the participant also earns if all work that awaits a decision is accepted, in minor units.
    erasure
        what happens to the participant's data in this activity on erasure, in sentences for them; none if there are no
        data.
    kind
        the participant kind of people whom a researcher invites.
    publishes
        the label of the permission to publish the participant's work, with `%(licence)s`.
    is_by_link_only
        whether only participants who entered by a link for this activity see it and may start it.
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
    publishes: str | Promise = _WRITTEN
    is_by_link_only: bool = False

    def address(self, study: Study) -> str:
        """Return the URL of the start page."""
        return reverse(self.start, args=[study.slug, *self.start_args])


# Returns a study's activities of one kind.
ActivityProvider = Callable[[Study], list[Activity]]
ParticipantHook = Callable[[Participant, datetime], None]

# By name prefix of its activities.
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
    # Ask only providers that may know it: this runs for every participant page.
    matching = (
        activity for prefix, provider in _providers.items() if name.startswith(prefix) for activity in provider(study)
    )
    return next((activity for activity in matching if activity.name == name), None)


def of_participant(participant: Participant) -> list[Activity]:
    """Return a participant's activities: those they entered for, and those that the study offers to everybody.

    Participants who entered only by links for activities of their own, such as judging, are offered nothing else. They
    still see activities in which they already submitted something.
    """
    came_for = set(participant.arrivals.values_list("link__purpose", flat=True))
    activities = of_study(participant.study)
    theirs = [activity for activity in activities if activity.name in came_for]
    if theirs and all(activity.is_by_link_only for activity in theirs):
        return [activity for activity in activities if activity in theirs or activity.erasure(participant)]
    return [activity for activity in activities if activity.name in came_for or not activity.is_by_link_only]


def get_for(participant: Participant, name: str) -> Activity | None:
    """Return the activity of this name, if the study has it and the participant may see it."""
    activity = get(participant.study, name)
    if activity is None or (activity.is_by_link_only and not participant.arrivals.filter(link__purpose=name).exists()):
        return None
    return activity


def latest(participant: Participant) -> Activity | None:
    """Return the activity of the participant's last entry; the first that the study offers if that is unknown."""
    purpose = participant.arrivals.order_by("-last_at", "-pk").values_list("link__purpose", flat=True).first()
    offered = (activity for activity in of_participant(participant) if activity.offer(participant.study))
    return get(participant.study, purpose or "") or next(offered, None)


def about_label(participant: Participant, about: str, known: list[Activity] | None = None) -> str:
    """Return the label of the work that a message is about; the given name if no activity knows it.

    `known` are the study's activities, for callers that need many labels.
    """
    if not about:
        return ""
    known_activities = of_study(participant.study) if known is None else known
    return next(filter(None, (activity.about_label(participant, about) for activity in known_activities)), about)


def owed(participant: Participant) -> int:
    """Return a participant's earnings in all activities, in minor units of the study's currency."""
    return sum(activity.owed(participant) for activity in of_study(participant.study))


def pending(participant: Participant) -> int:
    """Return the pay that awaits a decision in all activities, in minor units of the study's currency."""
    return sum(activity.awaited(participant) for activity in of_study(participant.study))


def erasure_notes(participant: Participant) -> list[str]:
    """Return what happens to a participant's data on erasure, each sentence once."""
    return list(
        dict.fromkeys(note for activity in of_study(participant.study) for note in activity.erasure(participant))
    )


def on_withdraw(leaver: ParticipantHook) -> None:
    """Add a hook for withdrawal, with or without erasure: it returns work in progress."""
    _withdraw_hooks.append(leaver)


def on_erase(eraser: ParticipantHook) -> None:
    """Add a hook for erasure; the hooks of `on_withdraw` were called before."""
    _erase_hooks.append(eraser)


def on_erasure_request(starter: ParticipantHook) -> None:
    """Add a hook that starts a requested erasure; called in the transaction that records the request."""
    _erasure_request_hooks.append(starter)


def erasure_request_hooks() -> list[ParticipantHook]:
    """Return the hooks that start a requested erasure."""
    return list(_erasure_request_hooks)


def withdraw_hooks() -> list[ParticipantHook]:
    """Return the hooks for withdrawal."""
    return list(_withdraw_hooks)


def erase_hooks() -> list[ParticipantHook]:
    """Return the hooks for erasure: upper apps first, since their rows refer to those of lower ones."""
    return list(reversed(_erase_hooks))


class Finding(str):
    """A problem or a warning. `url` is the page on which it is resolved, `action` the text of the link to it."""

    __slots__ = ("action", "url")
    url: str
    action: str

    def __new__(cls, text: str, *, url: str = "", action: str = "") -> Self:
        """Add the link to a text."""
        finding = super().__new__(cls, text)
        finding.url, finding.action = url, action
        return finding


@dataclass(frozen=True)
class Readiness:
    """Problems that prevent opening something, and warnings to read before opening it; some are a `Finding`."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        """Whether it can be opened."""
        return not self.problems


def undisclosed(study: Study) -> list[str]:
    """Return a warning if participants are not told what they should know about the researchers."""
    missing = {
        "who you are": study.researchers,
        "how to contact you": study.contact,
        "how and when they are paid": study.payment,
        "how long you keep their data": study.retention,
    }
    if not (names := [name for name, text in missing.items() if not text]):
        return []
    text = "Participants are not yet told: {what}. They read it before they consent.".format(what=", ".join(names))
    return [Finding(text, url=reverse("study_about", args=[study.slug]), action="Complete the description")]

"""The navigation of a study, the cards on its overview, and the counts in its inbox. Each app registers its own."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import TextChoices
from django.http import HttpRequest
from django.utils.functional import Promise, SimpleLazyObject

from crowdrag import __version__

from .enums import Role
from .models import Study, User


class Group(TextChoices):
    """The groups of the sidebar in order. A group without a label has no heading."""

    OVERVIEW = "overview", ""
    DATA = "data", "Data"
    COLLECT = "collect", "Collect"
    RESULTS = "results", "Results"
    EXPERIMENTS = "experiments", ""
    PUBLISH = "publish", "Publish"
    SETTINGS = "settings", "Settings"


@dataclass(frozen=True)
class NavigationItem:
    """A page of a study in the sidebar.

    Attributes
    ----------
    group : Group
    order : int
        Its position in the group.
    label : str
        The label, which is also the heading of the page.
    url_name : str
        The name of a URL that takes the study's slug.
    section : str
        The pages that belong to it: a page sets `section` in its context. Items may share a section; then the current
        one is the item whose URL is the longest prefix of the page's URL.
    role : Role
        Members below this role do not see it.
    has_badge : bool
        Whether it shows the number of items in the inbox.
    has_count : bool
        Whether it shows the number of rows on its page, from a source of `register_counts`.
    """

    group: Group
    order: int
    label: str | Promise
    url_name: str
    section: str
    role: Role = Role.VIEWER
    has_badge: bool = False
    has_count: bool = False


@dataclass(frozen=True)
class Card:
    """A card on a study's overview: a template and its context, None if there is nothing to show."""

    order: int
    template: str
    context: Callable[[Study], dict[str, Any] | None]


@dataclass(frozen=True)
class InboxEntry:
    """Pending work of one kind for a member: how many items, what they are, and where they are decided.

    Attributes
    ----------
    label, count, url
        what is pending, how much, and where it is decided.
    text
        what it belongs to, such as the campaign's name.
    assigned, assigned_url
        how many items are assigned to the member, and where these are listed.
    oldest
        when the oldest pending item arrived.
    notices
        what to look at first.
    """

    label: str
    count: int
    url: str
    text: str = ""
    assigned: int = 0
    assigned_url: str = ""
    oldest: datetime | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class StartOffer:
    """A way to start with an empty study: a page, or with `is_post` an action that runs at once.

    `label` is the button's, `url_name` a URL that takes the study's slug. A `template` shows more above the button.
    """

    order: int
    title: str
    text: str
    label: str
    url_name: str
    is_post: bool = False
    role: Role = Role.EDITOR
    template: str = ""


InboxSource = Callable[[Study, User | None], Iterable[InboxEntry]]
# Returns the number of rows on a page by the URL name of its item.
CountSource = Callable[[Study], dict[str, int]]

_items: list[NavigationItem] = []
_cards: list[Card] = []
_start_offers: list[StartOffer] = []
_inbox_sources: list[InboxSource] = []
_count_sources: list[CountSource] = []


def register_item(
    group: Group,
    order: int,
    label: str | Promise,
    url_name: str,
    *,
    section: str,
    role: Role = Role.VIEWER,
    has_badge: bool = False,
    has_count: bool = False,
) -> None:
    """Add a page to the sidebar; called once from an app's `ready`."""
    _items.append(NavigationItem(group, order, label, url_name, section, role, has_badge, has_count))


def register_card(*, order: int, template: str, context: Callable[[Study], dict[str, Any] | None]) -> None:
    """Add a card to every study's overview; called once from an app's `ready`."""
    _cards.append(Card(order, template, context))


def register_start(offer: StartOffer) -> None:
    """Add a way to start with an empty study; called once from an app's `ready`."""
    _start_offers.append(offer)


def register_inbox(source: InboxSource) -> None:
    """Add a source of the inbox: it returns work that awaits a decision or an answer; called once from `ready`."""
    _inbox_sources.append(source)


def register_counts(source: CountSource) -> None:
    """Add a source of counts in the sidebar, with one cheap query; called once from an app's `ready`."""
    _count_sources.append(source)


def items(role: int) -> list[NavigationItem]:
    """Return the items that a member of this role sees, group by group."""
    groups = list(Group)
    seen = (item for item in _items if role >= item.role)
    return sorted(seen, key=lambda item: (groups.index(item.group), item.order))


def cards(study: Study) -> list[dict[str, Any]]:
    """Return the cards of a study's overview with their contexts; empty cards are left out."""
    contexts = ((card, card.context(study)) for card in sorted(_cards, key=lambda card: card.order))
    return [{"template": card.template, **context} for card, context in contexts if context is not None]


def start_offers(role: int) -> list[StartOffer]:
    """Return the ways in which a member of this role can start with an empty study, in order."""
    return sorted((offer for offer in _start_offers if role >= offer.role), key=lambda offer: offer.order)


def inbox(study: Study, member: User | None = None) -> list[InboxEntry]:
    """Return everything in a study that awaits a reviewer, with what is assigned to this member."""
    entries = (entry for source in _inbox_sources for entry in source(study, member))
    return [entry for entry in entries if entry.count or entry.notices]


def unanswered(study: Study) -> Iterator[str]:
    """Yield a sentence if items wait in the inbox, which nobody could decide in an archived study."""
    if waiting := sum(entry.count for entry in inbox(study)):
        yield (
            "1 entry in the inbox awaits a decision."
            if waiting == 1
            else f"{waiting} entries in the inbox await a decision."
        )


def counts(study: Study) -> dict[str, int]:
    """Return the counts in the sidebar by the URL name of the item."""
    return {name: count for source in _count_sources for name, count in source(study).items()}


def context(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the current study, the member's role in it, and the pages in its sidebar."""
    values: dict[str, Any] = {"version": __version__}
    if (study := getattr(request, "study", None)) is not None:
        role = request.study_role  # type: ignore[attr-defined]
        values |= {"study": study, "study_role": Role(role), "navigation": items(role)}
        # Shared by sidebar, inbox and checklist: `crowdrag.studies.access` counts it once.
        values["inbox"] = request.inbox  # type: ignore[attr-defined]
        values["sidebar_counts"] = SimpleLazyObject(lambda: counts(study))
    return values

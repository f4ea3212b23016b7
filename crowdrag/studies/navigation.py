"""A study's tabs and the cards on its home. Each app registers its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.functional import Promise

from crowdrag import __version__

from .enums import Role
from .models import Study


@dataclass(frozen=True)
class Tab:
    """A page of a study in its navigation."""

    order: int
    label: str | Promise
    url_name: str
    section: str
    role: Role = Role.VIEWER


@dataclass(frozen=True)
class Card:
    """A card on a study's home: a template and what it shows."""

    order: int
    template: str
    context: Callable[[Study], dict[str, Any]]


_tabs: list[Tab] = []
_cards: list[Card] = []


def register_tab(*, order: int, label: str | Promise, url_name: str, section: str, role: Role = Role.VIEWER) -> None:
    """Add a tab; called once from an app's `ready`."""
    _tabs.append(Tab(order, label, url_name, section, role))


def register_card(*, order: int, template: str, context: Callable[[Study], dict[str, Any]]) -> None:
    """Add a card to every study's home; called once from an app's `ready`."""
    _cards.append(Card(order, template, context))


def tabs(role: int) -> list[Tab]:
    """Return the tabs that a member of this role sees, in order."""
    return sorted((tab for tab in _tabs if role >= tab.role), key=lambda tab: tab.order)


def cards(study: Study) -> list[dict[str, Any]]:
    """Return the cards of a study's home with what each shows."""
    ordered = sorted(_cards, key=lambda card: card.order)
    return [{"template": card.template, **card.context(study)} for card in ordered]


def context(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the study at hand, the member's role in it, and its tabs."""
    values: dict[str, Any] = {"version": __version__}
    if (study := getattr(request, "study", None)) is not None:
        role = request.study_role  # type: ignore[attr-defined]
        values |= {"study": study, "study_role": Role(role), "study_tabs": tabs(role)}
    return values

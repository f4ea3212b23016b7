"""Forms of entry links, and lists of the links of a study or an activity."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.urls import reverse

from .. import activities
from ..enums import EntryKind, Outcome
from ..models import Study, User
from . import enrolment, links
from .forms import LinkForm, OpenLinkForm, PersonalLinksForm, PlatformLinkForm
from .models import EntryLink

FORMS: Final[dict[str, type[LinkForm]]] = {
    EntryKind.PERSONAL: PersonalLinksForm,
    EntryKind.OPEN: OpenLinkForm,
    EntryKind.PLATFORM: PlatformLinkForm,
}
#: Makes the path of a page an absolute URL.
Absolute = Callable[[str], str]


@dataclass(frozen=True)
class LinkRow:
    """A link for display."""

    link: EntryLink
    activity: Any
    funnel: links.Funnel
    is_open: bool
    address: str

    @property
    def ends(self) -> list[tuple[Any, str]]:
        """The completion URLs by outcome of the visit."""
        return [(end.label, self.link.completion[end]) for end in Outcome if end in self.link.completion]


def link_lists(study: Study, *, absolute: Absolute, now: datetime, purpose: str = "") -> dict[str, list[LinkRow]]:
    """Return the shared links and personal invitations, latest first; with a purpose, only those of this activity.

    Personal links that participants created for returning are not invitations.
    """
    numbers = links.funnels(study)
    listed = EntryLink.objects.filter(study=study).select_related("participant", "study")
    invitations = EntryLink.objects.invitations().filter(study=study)
    if purpose:
        listed, invitations = listed.filter(purpose=purpose), invitations.filter(purpose=purpose)
    invited = set(invitations.values_list("pk", flat=True))
    labels = {activity.name: activity.label for activity in activities.of_study(study)}
    rows = [
        LinkRow(
            link,
            labels.get(link.purpose, link.purpose),
            numbers.get(link.pk, links.Funnel(0, 0)),
            enrolment.is_open(link, now),
            shared_address(link, absolute),
        )
        for link in listed.order_by("-created_at", "-pk")
    ]
    return {
        "shared": [row for row in rows if row.link.kind != EntryKind.PERSONAL],
        "personal": [row for row in rows if row.link.pk in invited],
    }


def make_forms(study: Study, *, purpose: str = "", refused: LinkForm | None = None) -> dict[str, LinkForm]:
    """Return an empty form for each kind of link; a rejected form keeps its input."""
    forms = {kind.lower(): form(study, purpose=purpose, prefix=kind.lower()) for kind, form in FORMS.items()}
    return forms if refused is None else forms | {str(refused.prefix): refused}


def read_form(study: Study, data: Any, *, purpose: str = "") -> LinkForm | None:
    """Return the submitted form, by its kind of link; None if there is no such kind."""
    kind = data.get("kind", "")
    form = FORMS.get(kind)
    return form(study, data, purpose=purpose, prefix=kind.lower()) if form else None


def create(form: LinkForm, *, study: Study, by: User, now: datetime) -> list[links.LinkWithKey]:
    """Create the links of a valid form; return the personal ones, whose keys are shown only once."""
    data = form.cleaned_data
    common: dict[str, Any] = {
        "study": study,
        "purpose": data["purpose"],
        "by": by,
        "now": now,
        "expires_at": form.expires_at(now),
    }
    if isinstance(form, PersonalLinksForm):
        return links.create_personal(labels=data["labels"], **common)
    if isinstance(form, PlatformLinkForm):
        links.create_platform(
            label=data["label"],
            platform=data["platform"],
            parameters=form.parameters(),
            completion=form.completion(),
            **common,
        )
    else:
        links.create_open(label=data["label"], **common)
    return []


def with_addresses(created: list[links.LinkWithKey], absolute: Absolute) -> list[dict[str, str]]:
    """Return the labels and URLs of new personal links."""
    return [{"label": one.link.label, "address": _join_address(one.key, absolute)} for one in created]


def shared_address(link: EntryLink, absolute: Absolute) -> str:
    """Return a shared link's URL for a platform, with the placeholders that Prolific fills in."""
    if not link.token:
        return ""
    address = _join_address(link.token, absolute)
    if link.kind != EntryKind.PLATFORM:
        return address
    is_prolific = link.parameters == links.PLATFORM_PRESETS["prolific"]
    names = [link.parameters[role] for role in links.PARAMETER_ROLES if role in link.parameters]
    filled = [f"{name}={{{{%{name}%}}}}" if is_prolific else f"{name}=…" for name in names]
    return f"{address}?{'&'.join(filled)}"


def _join_address(key: str, absolute: Absolute) -> str:
    return absolute(reverse("join", args=[key]))

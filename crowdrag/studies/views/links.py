"""The links by which people come into a study, with how many came by each."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from .. import ways
from ..access import shows, study_page
from ..domain import enquiring, entering, links, platforms
from ..enums import EntryKind, Outcome, Role, Shown
from ..forms import LinkForm, OpenLinkForm, PersonalLinksForm, PlatformLinkForm
from ..models import EntryLink, Study

FORMS: dict[str, type[LinkForm]] = {
    EntryKind.PERSONAL: PersonalLinksForm,
    EntryKind.OPEN: OpenLinkForm,
    EntryKind.PLATFORM: PlatformLinkForm,
}


@dataclass(frozen=True)
class Row:
    """A link as the page shows it."""

    link: EntryLink
    way: Any
    funnel: links.Funnel
    is_open: bool
    address: str

    @property
    def ends(self) -> list[tuple[Any, str]]:
        """Where people are led, by how their visit ended."""
        return [(end.label, self.link.completion[end]) for end in Outcome if end in self.link.completion]


@study_page(Role.EDITOR)
@never_cache
@shows(Shown.PEOPLE)
def entry_links(request: HttpRequest, study: Study) -> HttpResponse:
    """List the links of a study, and make new ones."""
    kind = request.POST.get("kind", "")
    if request.method != "POST" or kind not in FORMS:
        return _show(request, study)
    form = FORMS[kind](study, request.POST, prefix=kind.lower())
    if not form.is_valid():
        return _show(request, study, {kind: form})
    return _make(request, study, form)


@study_page(Role.EDITOR)
@require_POST
@never_cache
@shows(Shown.PEOPLE)
def renew_link(request: HttpRequest, study: Study, link_id: int) -> HttpResponse:
    """Make a new personal link in place of one that was lost, and show it."""
    link = get_object_or_404(EntryLink, pk=link_id, study=study, kind=EntryKind.PERSONAL)
    assert link.participant is not None, "a check of the table"
    made = links.renew(participant=link.participant, purpose=link.purpose, now=timezone.now(), by=request.user)  # type: ignore[arg-type]
    return _show(request, study, made=[made])


@study_page(Role.EDITOR)
@require_POST
def close_link(request: HttpRequest, study: Study, link_id: int) -> HttpResponse:
    """Let nobody in by a link any more."""
    link = get_object_or_404(EntryLink, pk=link_id, study=study)
    links.close(link=link, now=timezone.now())
    messages.success(request, _("Nobody new comes in by this link any more."))
    return redirect("entry_links", study.slug)


def _make(request: HttpRequest, study: Study, form: LinkForm) -> HttpResponse:
    now, data = timezone.now(), form.cleaned_data
    common: dict[str, Any] = {
        "study": study,
        "purpose": data["purpose"],
        "by": request.user,
        "now": now,
        "expires_at": form.expires_at(now),
    }
    if isinstance(form, PersonalLinksForm):
        return _show(request, study, made=links.create_personal(labels=data["labels"], **common))
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
    messages.success(request, _("The link is made."))
    return redirect("entry_links", study.slug)


def _show(
    request: HttpRequest,
    study: Study,
    refused: dict[str, LinkForm] | None = None,
    made: list[links.Made] | None = None,
) -> HttpResponse:
    numbers, now = links.funnels(study), timezone.now()
    found = EntryLink.objects.filter(study=study).select_related("participant").order_by("-created_at", "-pk")
    invitations = set(EntryLink.objects.invitations().filter(study=study).values_list("pk", flat=True))
    rows = [
        Row(
            link,
            getattr(ways.get(link.study, link.purpose), "label", link.purpose),
            numbers.get(link.pk, links.Funnel(0, 0)),
            entering.is_open(link, now),
            _address(request, link),
        )
        for link in found
    ]
    shown = refused or {}
    forms = {kind.lower(): shown.get(kind) or form(study, prefix=kind.lower()) for kind, form in FORMS.items()}
    context = {
        # What people made for themselves so as to come back is theirs, and no invitation.
        "shared": [row for row in rows if row.link.kind != EntryKind.PERSONAL],
        "personal": [row for row in rows if row.link.pk in invitations],
        "made": [{"label": one.link.label, "address": _join(request, one.key)} for one in made or []],
        "forms": forms,
        "refused": "".join(shown),
        "ways": ways.every(study),
        "waiting": enquiring.unanswered(study),
        "section": "people",
    }
    return render(request, "studies/people.html", context, status=422 if refused else 200)


def _address(request: HttpRequest, link: EntryLink) -> str:
    """Return a shared link's address as it is given to a platform: with the parameters that Prolific fills in."""
    if not link.token:
        return ""
    address = _join(request, link.token)
    if link.kind != EntryKind.PLATFORM:
        return address
    is_prolific = link.parameters == platforms.PRESETS["prolific"]
    names = [link.parameters[role] for role in platforms.ROLES if role in link.parameters]
    filled = [f"{name}={{{{%{name}%}}}}" if is_prolific else f"{name}=…" for name in names]
    return f"{address}?{'&'.join(filled)}"


def _join(request: HttpRequest, key: str) -> str:
    return request.build_absolute_uri(reverse("join", args=[key]))

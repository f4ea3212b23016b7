"""Pages of a study's releases for its members."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crowdrag.jobs import progress
from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from writing.plans.forms import LICENCES

from . import builds, public_views, services
from . import queries as releases_queries
from .forms import LinkForm, ReleaseForm, WithdrawForm
from .models import Release, ReleaseLink

View = Callable[..., HttpResponseBase]
SECTION = "releases"
INVALID = 422


@study_page(Role.VIEWER)
@require_safe
def releases(request: HttpRequest, study: Study) -> HttpResponse:
    """List the releases of a study."""
    context = releases_queries.listing(study, request.GET.get("page")) | {
        "section": SECTION,
        "may_change": _may(request),
    }
    return render(request, "analysis/releases/list.html", context)


@study_page(Role.EDITOR)
def new(request: HttpRequest, study: Study) -> HttpResponse:
    """Create a draft of the next version."""
    form = ReleaseForm(study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            created = services.create(study=study, choices=form.choices(), by=request.user, **form.details())  # type: ignore[arg-type]
        except services.ReleaseError as error:
            form.add_error(None, str(error))
        else:
            return redirect("release", study.slug, created.number)
    context = {"form": form, "section": SECTION, "latest": releases_queries.latest(study), "licences": LICENCES}
    return render(request, "analysis/releases/form.html", context, status=INVALID if form.errors else 200)


@study_page(Role.EDITOR)
def change(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """Change an unpublished release."""
    release = _release(study, number)
    form = ReleaseForm(study, request.POST or None, release=release)
    if request.method == "POST" and form.is_valid():
        try:
            services.change(release=release, choices=form.choices(), **form.details())
        except services.ReleaseError as error:
            form.add_error(None, str(error))
        else:
            return redirect("release", study.slug, number)
    context = {"form": form, "release": release, "section": SECTION, "licences": LICENCES}
    return render(request, "analysis/releases/form.html", context, status=INVALID if form.errors else 200)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def release(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """Show a release: its contents, what was left out and why, and the next actions."""
    return _show(request, study, _release(study, number))


@study_page(Role.VIEWER)
@never_cache
@require_safe
def show_progress(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """Show the progress of the build; when it has ended, reload the page."""
    release = _release(study, number)
    if (running := _progress(release)) is None:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return render(request, "analysis/releases/release.html#building", {"release": release, "progress": running})


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.FILE)
def file(request: HttpRequest, study: Study, number: int, path: str) -> HttpResponseBase:
    """Send a file of a release, published or not."""
    return public_views.file_response(request, _release(study, number), path)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.FILE)
def everything(request: HttpRequest, study: Study, number: int) -> HttpResponseBase:
    """Send all files of a release as one ZIP, published or not."""
    return public_views.zip_response(request, _release(study, number))


def action(role: Role) -> Callable[[Callable[..., Any]], View]:
    """Make a view for a button of a release; errors are shown on its page."""

    def decorate(act: Callable[..., Any]) -> View:
        @study_page(role)
        @require_POST
        @wraps(act)
        def view(request: HttpRequest, study: Study, number: int, **kwargs: Any) -> HttpResponse:
            release = _release(study, number)
            try:
                answer = act(request, release, **kwargs)
            except services.ReleaseError as error:
                messages.error(request, str(error))
                answer = None
            return answer if isinstance(answer, HttpResponse) else redirect("release", study.slug, number)

        return view

    return decorate


@action(Role.EDITOR)
def build(request: HttpRequest, release: Release) -> None:
    """Start building it."""
    address = request.build_absolute_uri(reverse("public_release", args=[release.study.slug, release.number]))
    builds.start(release=release, by=request.user, address=address)  # type: ignore[arg-type]


@action(Role.EDITOR)
def stop(request: HttpRequest, release: Release) -> None:
    """Stop building it."""
    builds.stop(release=release, by=request.user)  # type: ignore[arg-type]


@action(Role.OWNER)
def publish(request: HttpRequest, release: Release) -> None:
    """Publish it."""
    services.publish(release=release, by=request.user)  # type: ignore[arg-type]


@action(Role.OWNER)
def lift_embargo(request: HttpRequest, release: Release) -> None:
    """End the embargo now."""
    services.lift_embargo(release=release)


@action(Role.OWNER)
def withdraw(request: HttpRequest, release: Release) -> HttpResponse | None:
    """Withdraw it."""
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        return _show(request, release.study, release, withdraw_form=form)
    services.withdraw(release=release, reason=form.cleaned_data["reason"], by=request.user)  # type: ignore[arg-type]
    return None


@action(Role.EDITOR)
def discard(request: HttpRequest, release: Release) -> HttpResponse:
    """Delete a release that was never published."""
    services.discard(release=release)
    return redirect("releases", release.study.slug)


@action(Role.EDITOR)
@never_cache
def link(request: HttpRequest, release: Release) -> HttpResponse:
    """Create a private link, and show it once."""
    form = LinkForm(request.POST)
    if not form.is_valid():
        return _show(request, release.study, release, link_form=form)
    _made, key = services.create_link(
        release=release,
        expires_at=form.expires_at(),
        label=form.cleaned_data["label"],
        by=request.user,  # type: ignore[arg-type]
    )
    address = request.build_absolute_uri(reverse("private_release", args=[key]))
    return _show(request, release.study, release, made_link=address)


@action(Role.EDITOR)
def revoke(request: HttpRequest, release: Release, pk: int) -> None:
    """Revoke a private link."""
    services.revoke_link(link=get_object_or_404(ReleaseLink, release=release, pk=pk))


def _show(request: HttpRequest, study: Study, release: Release, **more: Any) -> HttpResponse:
    context = releases_queries.one(release, now=timezone.now()) | {
        "section": SECTION,
        "may_change": _may(request),
        "may_publish": request.study_role >= Role.OWNER,  # type: ignore[attr-defined]
        "link_form": LinkForm(),
        "withdraw_form": WithdrawForm(),
        "progress": _progress(release),
    }
    invalid = any(form.is_bound and form.errors for form in (more.get("link_form"), more.get("withdraw_form")) if form)
    return render(request, "analysis/releases/release.html", context | more, status=INVALID if invalid else 200)


def _progress(release: Release) -> Any:
    return progress.measure(release.run) if release.run and release.run.is_active else None


def _release(study: Study, number: int) -> Release:
    return get_object_or_404(Release.objects.select_related("study", "run", "published_by"), study=study, number=number)


def _may(request: HttpRequest) -> bool:
    return bool(request.study_role >= Role.EDITOR)  # type: ignore[attr-defined]

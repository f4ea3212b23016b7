"""Who may open what. Every view wears one of these; a test walks the URLs and fails on one that does not."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from .enums import Role
from .models import Study

View = Callable[..., HttpResponseBase]


def study_page(role: Role) -> Callable[[View], View]:
    """Let members of at least this role in; the view gets the study in place of its slug.

    Whoever is no member learns nothing: 404, as for a study that is not there. A member whose role is too low: 403.
    """

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def checked(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            study = get_object_or_404(Study.objects.for_user(request.user).with_role(request.user), slug=slug)
            held = Role.OWNER if request.user.is_superuser else study.role  # type: ignore[attr-defined]
            if held < role:
                raise PermissionDenied(f"This page is for members who are {role.label} or more.")
            request.study, request.study_role = study, held  # type: ignore[attr-defined]
            return view(request, study, *args, **kwargs)

        checked.access = role  # type: ignore[attr-defined]
        return checked

    return decorate


def signed_in(view: View) -> View:
    """Let any signed-in user in."""
    checked = login_required(view)
    checked.access = "signed in"  # type: ignore[attr-defined]
    return checked


def public(view: View) -> View:
    """Let anybody in."""

    @wraps(view)
    def marked(*args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(*args, **kwargs)

    marked.access = "public"  # type: ignore[attr-defined]
    return marked


def operator_page(view: View) -> View:
    """Let operators (staff) in."""

    @login_required
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied("This page is for operators.")
        return view(request, *args, **kwargs)

    checked.access = "operator"  # type: ignore[attr-defined]
    return checked

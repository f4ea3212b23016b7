"""Pages of the API: the OpenAPI description, the explorer, and the list of problems."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView

from crowdrag.accounts.enums import Scope
from crowdrag.studies.access import public, signed_in

from .endpoints import Endpoint
from .problems import PROBLEM_TYPES, Problem

# The description is public: it contains no data of studies or users, only what is in the source code.
schema = public(
    SpectacularAPIView.as_view(
        authentication_classes=[], permission_classes=[], renderer_classes=[OpenApiJsonRenderer2]
    )
)


@public
def problems(request: HttpRequest) -> HttpResponse:
    """Explain all problem types; the `type` of a problem is a URL of this page."""
    return render(request, "api/problems.html", {"sorts": PROBLEM_TYPES.values()})


@signed_in
def explorer(request: HttpRequest) -> HttpResponse:
    """Show the API description, in which signed-in users can try the endpoints."""
    context = {"scopes": list(Scope), "per_minute": settings.API_PER_MINUTE, "at_once": settings.API_AT_ONCE}
    return render(request, "api/explorer.html", context)


class UnknownAddress(Endpoint):
    """An unknown URL of the API, answered with a problem for everybody."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def check_permissions(self, request: object) -> None:
        """Raise the problem "not found"."""
        raise Problem("not-found")

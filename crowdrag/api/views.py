"""Pages of the API: the OpenAPI description, the explorer, the list of problems."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView

from crowdrag.accounts.enums import Scope
from crowdrag.studies.access import public, signed_in

from .endpoints import Endpoint
from .problems import PROBLEM_TYPES, Problem

# The description is of no study and of nobody: whoever reads it learns what stands in the source.
schema = public(
    SpectacularAPIView.as_view(
        authentication_classes=[], permission_classes=[], renderer_classes=[OpenApiJsonRenderer2]
    )
)


@public
def problems(request: HttpRequest) -> HttpResponse:
    """Explain each sort of problem: `type` in an answer leads here."""
    return render(request, "api/problems.html", {"sorts": PROBLEM_TYPES.values()})


@signed_in
def explorer(request: HttpRequest) -> HttpResponse:
    """Let people read the description and try endpoints as who they are signed in as."""
    context = {"scopes": list(Scope), "per_minute": settings.API_PER_MINUTE, "at_once": settings.API_AT_ONCE}
    return render(request, "api/explorer.html", context)


class UnknownAddress(Endpoint):
    """An address of the API that there is not: said as its problems are said, to whoever asks."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def check_permissions(self, request: object) -> None:
        """Refuse: there is nothing that anybody might do."""
        raise Problem("not-found")

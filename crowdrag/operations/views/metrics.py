"""Figures for a monitoring system, and the counting of what web processes answer."""

import hmac
import ipaddress
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from crowdrag.audit.domain.signing_in import address_of
from crowdrag.studies.access import public

from ..domain import measuring

# Addresses that nobody made a page for are one view: else whoever likes could make as many as they like.
NO_PAGE = "none"


@public
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Send all figures to who has the token or comes from an allowed address, and to operators."""
    if not _may_read(request):
        return HttpResponse(
            "Send CROWDRAG_METRICS_TOKEN as a bearer token.\n",
            status=401,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
        )
    return HttpResponse(measuring.everything(), content_type=CONTENT_TYPE_LATEST)


def counted(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Count every answer and how long it took (a middleware)."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = get_response(request)
        match = request.resolver_match
        view = (match.view_name if match else "") or NO_PAGE
        seconds = time.perf_counter() - began
        measuring.answered(view=view, method=request.method or "", status=response.status_code, seconds=seconds)
        return response

    return answer


def _may_read(request: HttpRequest) -> bool:
    if request.user.is_authenticated and request.user.is_active and request.user.is_staff:
        return True
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    token = settings.METRICS_TOKEN
    if token and scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode()):
        return True
    came_from = address_of(request)
    if came_from is None:
        return False
    address = ipaddress.ip_address(came_from)
    return any(address in network for network in map(ipaddress.ip_network, settings.METRICS_ADDRESSES))

"""Whether this web process lives, and whether it can serve: asked by supervisors, proxies and orchestrators."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.cache import add_never_cache_headers

from crowdrag.studies.access import public

from ..domain import readiness


@public
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as the process lives. Nothing else is asked: starting it again would not heal a database."""
    response = HttpResponse("ok\n", content_type="text/plain")
    add_never_cache_headers(response)
    return response


@public
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if requests may come here, else 503; with `?all` only if nothing at all is missing."""
    found = readiness.look()
    well = found.whole if "all" in request.GET else found.serves
    said = {name: "ok" if there else "missing" for name, there in found.found.items()}
    state = "draining" if found.draining else "ready" if found.whole else "degraded" if found.serves else "not ready"
    response = JsonResponse({"status": state, "checks": said}, status=200 if well else 503)
    add_never_cache_headers(response)
    # What is missing is logged when it is looked at; Django would log each answer that says so as an error.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


PROBES = {"/healthz": healthz, "/readyz": readyz}


def probes(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer probes before the host's name, the session or the language are looked at (a middleware).

    A probe names the machine and not the site, comes without TLS and without a cookie, and must not fail for that.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        probe = PROBES.get(request.path)
        return probe(request) if probe else get_response(request)

    return answer

"""The header Host: what Django leaves unchecked of it."""

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_LAST_PORT = 65535


def checked(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Refuse a port that there is not (a middleware): it would stand in the addresses that pages name."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        port = request.META.get("HTTP_HOST", "").rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) <= _LAST_PORT):
            raise DisallowedHost(f"There is no port {port[:20]!r}.")
        return get_response(request)

    return answer

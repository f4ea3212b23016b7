"""Persistent filters of a list: they are in its URL, and remembered for visits without any."""

from collections.abc import Collection
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect

SESSION_KEY: Final = "list_filters"
# The URL with this parameter alone shows the list without filters, and clears them.
CLEARED: Final = "all"


def restore(request: HttpRequest, key: str, names: Collection[str]) -> HttpResponseRedirect | None:
    """Remember the filters in a URL; return a redirect if there are none and some are remembered.

    `key` names the list, `names` its filters.
    """
    remembered = request.session.get(SESSION_KEY, {})
    if not request.GET:
        earlier = remembered.get(key)
        return redirect(f"{request.path}?{urlencode(earlier)}") if earlier else None
    current = {name: value for name in names if (value := request.GET.get(name))}
    if current != remembered.get(key, {}):
        others = {other: filters for other, filters in remembered.items() if other != key}
        request.session[SESSION_KEY] = {**others, **({key: current} if current else {})}
    return None

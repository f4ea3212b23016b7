"""How pages of results write ids."""

import re

from django import template

register = template.Library()
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
LONGEST = 24


@register.filter
def short(name: str) -> str:
    """Write an id as short as it can be told apart: of a UUID the first group, of others as much as fits."""
    if UUID.match(name):
        return f"{name[:8]}…"
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"

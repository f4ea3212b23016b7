"""How pages of results write ids, charts and captions."""

import re
from typing import Any

from django import template

from ..domain import captions

register = template.Library()
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
LONGEST = 24


@register.filter
def short(name: str) -> str:
    """Write an id as short as it can be told apart: of a UUID the first group, of others as much as fits."""
    if UUID.match(name):
        return f"{name[:8]}…"
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


@register.inclusion_tag("analysis/_chart.html", takes_context=True)
def result_chart(context: template.Context, name: str, width: int = 736, height: int = 300) -> dict[str, Any]:
    """A chart of this run with its caption: `{% result_chart "agreement" width=736 height=295 %}`."""
    run = context["run"]
    said = captions.figure(name)
    return {
        "study": context["study"], "run": run, "name": name, "width": width, "height": height, "alt": said.alt,
        "caption": captions.caption(said.caption, run.parameters),
    }  # fmt: skip


@register.simple_tag(takes_context=True)
def table_caption(context: template.Context, name: str) -> str:
    """The caption that a table has everywhere: `<caption>{% table_caption "agreement" %}</caption>`."""
    return captions.caption(captions.table(name).caption, context["run"].parameters)

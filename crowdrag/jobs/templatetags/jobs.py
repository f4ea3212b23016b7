"""Template filters for values of runs."""

import json
from dataclasses import asdict
from typing import Any

from django import template

from crowdrag.ui.templatetags import ui

from .. import kinds
from ..progress import Progress

register = template.Library()


@register.filter
def pace(progress: Progress) -> str:
    """Return the rate and the time left, as far as known."""
    parts = []
    if progress.rate is not None:
        parts.append(_rate(progress.rate))
    if (stage := progress.stage) is not None:
        done = {"done": ui.figure(stage.done, 0), "all": ui.figure(stage.total, 0)}
        parts.append("stage %(number)s of %(of)s: %(done)s of %(all)s" % (asdict(stage) | done))
    if progress.left is not None:
        text = "%(time)s left of this stage" if progress.stage else "%(time)s left"
        parts.append(text % {"time": ui.duration(progress.left)})
    return ", ".join(parts)


def _rate(a_second: float) -> str:
    """Format a rate per second in the smallest unit of time that gives at least one, else per hour."""
    units = ((1, "%(rate)s per second"), (60, "%(rate)s per minute"), (3600, "%(rate)s per hour"))
    seconds, text = next((unit for unit in units if a_second * unit[0] >= 1), units[-1])
    rate = a_second * seconds
    return text % {"rate": ui.figure(rate, 0 if rate >= 10 else 1)}


@register.filter
def kind_title(name: str) -> str:
    """Return the title of a kind of run."""
    return kinds.title(name)


@register.filter
def column_name(key: str) -> str:
    """Turn a key into readable words."""
    return str(key).replace("_", " ").capitalize()


@register.filter
def cell(row: dict[str, Any], key: str) -> str:
    """Return a row's value for a key, in words."""
    return plainly(row.get(key))


@register.filter
def plainly(value: Any) -> str:
    """Format a JSON value for people; nested values stay JSON."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict) and not any(isinstance(part, dict | list) for part in value.values()):
        return ", ".join(f"{_plain_name(name)} {plainly(part)}" for name, part in value.items()) or "–"
    if isinstance(value, list) and not any(isinstance(part, dict | list) for part in value):
        return ", ".join(map(plainly, value)) or "–"
    return str(value) if isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)


def _plain_name(name: str) -> str:
    """Return a key in words; names of files stay as they are."""
    return name if "." in name or "/" in name else name.replace("_", " ")

"""Template tags of all pages: icons, badges, numbers with their uncertainty, sidebar, sortable headers (docs/ui.md)."""

import datetime as dt
import math
import re
from decimal import Decimal
from numbers import Real
from typing import Any

from django import template
from django.template import Context
from django.templatetags.static import static
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from crowdrag.studies import money as amounts
from crowdrag.studies import navigation
from crowdrag.studies.enums import Role

from .. import documentation
from .. import markdown as rendering

register = template.Library()

MINUS = "\u2212"  # read aloud as "minus" and as wide as a digit; a hyphen is neither
UNDEFINED = "\u2013"

# Django's message levels, and the tones of the pages, with an icon that has the same meaning as the colour.
TONES = {"debug": "info", "success": "good", "warning": "warn", "error": "bad"}
ICONS = {"good": "check", "warn": "warn", "bad": "stop", "info": "info", "sim": "dice"}

# States of runs and others; a state that is not listed is shown under its own name, in grey.
STATES = {
    "planned": ("waiting", "", "clock"),
    "running": ("running", "info", "play"),
    "done": ("done", "good", "check"),
    "failed": ("failed", "bad", "warn"),
    "cancelled": ("cancelled", "", "stop"),
    "stale": ("out of date", "warn", "clock"),
}
ROLE_TONES = {Role.OWNER: "accent", Role.EDITOR: "info", Role.REVIEWER: "good"}


def is_number(value: Any) -> bool:
    """Return whether the value is a finite number."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool) and math.isfinite(value)


@register.filter
def plain(value: Any) -> str:
    """Format a number for machines, whatever the reader's language; empty if there is none."""
    return repr(float(value)) if is_number(value) else ""


@register.filter
def figure(value: Any, digits: int = 2) -> SafeString | str:
    """Format a number with this many digits after the point; a dash if undefined."""
    if not is_number(value):
        return format_html('<span class="undefined" title="{}">{}</span>', "not defined", UNDEFINED)
    text = f"{abs(value):,.{int(digits)}f}"
    negative = value < 0 and any(digit in "123456789" for digit in text)
    return f"{MINUS}{text}" if negative else text


@register.filter
def percent(value: Any, digits: int = 0) -> SafeString | str:
    """Format a share between 0 and 1 as per cent."""
    return f"{figure(value * 100, digits)}\u202f%" if is_number(value) else figure(value)


@register.filter
def duration(seconds: Any) -> str:
    """Format seconds for people: 45 s, 3 min 20 s, 2 h 5 min."""
    if isinstance(seconds, dt.timedelta):
        seconds = seconds.total_seconds()
    if not is_number(seconds):
        return UNDEFINED
    whole = max(0, round(seconds))
    if whole < 60:
        text = _("%(seconds)d s") % {"seconds": whole}
    elif whole < 3600:
        text = _("%(minutes)d min %(seconds)d s") % {"minutes": whole // 60, "seconds": whole % 60}
    else:
        text = _("%(hours)d h %(minutes)d min") % {"hours": whole // 3600, "minutes": whole % 3600 // 60}
    # A number stays on the line of its unit.
    return re.sub(r"(?<=\d) ", "\u00a0", text)


@register.filter
def markdown(text: str, top: int | None = None) -> SafeString:
    """Show a researcher's Markdown as safe HTML, from heading level `top` on; put it into `<div class="prose">`."""
    return rendering.render(text, top=top)


@register.filter
def money(amount: Any, currency: str) -> str:
    """Format an amount in minor units as the page's language does: USD 2.50, or in German 2,50 USD."""
    if not is_number(amount):
        return UNDEFINED
    digits = amounts.minor_digits(currency)
    if (get_language() or "en").startswith("en"):
        return f"{currency}\u00a0{figure(amount / 10**digits, digits)}"
    number = formats.number_format(f"{abs(amount) / 10**digits:.{digits}f}", digits, use_l10n=True, force_grouping=True)
    return f"{MINUS if amount < 0 else ''}{number}\u00a0{currency}"


@register.filter
def fine_money(amount: Any, currency: str) -> str:
    """Format an amount that may be a fraction of a minor unit, such as the cost of models: USD 0.0012."""
    if not is_number(amount):
        return UNDEFINED
    digits = amounts.minor_digits(currency)
    return f"{currency}\u00a0{figure(amount / 10**digits, digits + 2)}"


@register.simple_tag
def ago(when: dt.datetime | None, now: dt.datetime | None = None) -> SafeString | str:
    """Show how long ago something was; the exact time is in the title and for machines."""
    if when is None:
        return UNDEFINED
    now = now or timezone.now()
    text = _("just now") if abs(now - when) < dt.timedelta(minutes=1) else _("%s ago") % timesince(when, now, depth=1)
    if when > now + dt.timedelta(minutes=1):
        text = _("in %s") % timesince(now, when, depth=1)
    local = timezone.localtime(when)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        when.isoformat(),
        f"{formats.date_format(local, 'DATETIME_FORMAT')} {local:%Z}",
        text,
    )


@register.simple_tag
def local_time(when: dt.datetime) -> SafeString:
    """Show a date and time with its zone; a script shows it in the reader's zone (static/js/ui/local-times.js)."""
    local = timezone.localtime(when)
    return format_html(
        '<time datetime="{}" data-local>{}</time>',
        when.isoformat(),
        f"{formats.date_format(local, 'DATETIME_FORMAT')} {local:%Z}",
    )


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """Draw an icon of static/icons/icons.svg; without a label it is decoration and not read aloud."""
    address = f"{static('icons/icons.svg')}#{name}"
    if label:
        return format_html('<svg class="icon" role="img" aria-label="{}"><use href="{}"></use></svg>', label, address)
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}"></use></svg>', address)


@register.simple_tag(takes_context=True)
def documentation_url(context: Context) -> str:
    """Return the URL of the guide that explains this page, or of the documentation."""
    match = getattr(context.get("request"), "resolver_match", None)
    return documentation.url(match.url_name if match else None)


@register.simple_tag
def badge(text: Any, tone: str = "", name: str = "") -> SafeString:
    """Show a badge. Tones: good, warn, bad, info, accent, sim, or none; `name` is an icon's."""
    tone_class = f" badge--{tone}" if tone else ""
    drawn = icon(name) if name else mark_safe("")
    return format_html('<span class="badge{}">{}{}</span>', tone_class, drawn, text)


@register.simple_tag
def state(value: Any, label: Any = "") -> SafeString:
    """Show the state of a run, or of anything with the same states."""
    text, tone, name = STATES.get(str(value).lower(), (str(value), "", ""))
    return badge(label or text, tone, name)


@register.simple_tag
def role_badge(role: int | None) -> SafeString:
    """Show a member's role in a study; operators see every study without one."""
    return badge("operator") if role is None else badge(Role(role).label, ROLE_TONES.get(Role(role), ""))


@register.simple_tag
def simulated() -> SafeString:
    """Mark simulated data, wherever they are shown."""
    return badge(_("simulated"), "sim", "dice")


@register.simple_tag
def note(level: str, text: Any) -> SafeString:
    """Show a message in the page; an error is announced at once."""
    tone = TONES.get(level, level or "info")
    role = mark_safe(' role="alert"') if tone == "bad" else ""
    return format_html(
        '<div class="note note--{}"{}>{}<div>{}</div></div>', tone, role, icon(ICONS.get(tone, "info")), text
    )


@register.simple_block_tag(end_name="endnotebox")
def notebox(content: str, level: str) -> SafeString:
    """Show a message whose text is a part of the template, with its variables."""
    return note(level, mark_safe(content.strip()))  # noqa: S308 -- rendered from the template, variables escaped


@register.simple_block_tag
def capture(content: str) -> SafeString:
    """Store a text with its variables under a name: `{% capture as caption %}...{% endcapture %}`."""
    return mark_safe(content.strip())  # noqa: S308 -- rendered from the template, variables escaped


def _percent_along(value: float, minimum: float, maximum: float) -> float:
    share = (value - minimum) / (maximum - minimum)
    return 100 * min(1.0, max(0.0, share))


def interval_bar(value: float, low: float, high: float, minimum: float, maximum: float) -> SafeString:
    """Draw an estimate and its interval between two bounds; the number beside it says the same."""
    left, right, point = (_percent_along(v, minimum, maximum) for v in (low, high, value))
    parts = [("track", 0.0, 5.5, 100.0, 1.0)]
    if minimum < 0 < maximum:
        parts.append(("zero", _percent_along(0, minimum, maximum) - 0.5, 1.0, 1.0, 10.0))
    parts += [
        ("range", left, 3.5, max(right - left, 0.5), 5.0),
        ("point", min(max(point - 1.25, 0), 97.5), 1.0, 2.5, 10.0),
    ]
    rects = format_html_join(
        "",
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>',
        ((name, *(f"{number:.2f}" for number in box)) for name, *box in parts),
    )
    return format_html(
        '<svg class="estimate-bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">{}</svg>', rects
    )


@register.simple_tag
def estimate(
    value: Any,
    low: Any = None,
    high: Any = None,
    n: int | None = None,
    digits: int = 2,
    minimum: float | None = None,
    maximum: float | None = None,
) -> SafeString:
    """Format a number with its 95 % interval and its n; given bounds, draw the interval too."""
    parts = [format_html('<span class="estimate-value">{}</span>', figure(value, digits))]
    if is_number(value) and is_number(low) and is_number(high):
        title = f"95 % interval from {figure(low, digits)} to {figure(high, digits)}"
        span = format_html(
            '<span class="estimate-range" title="{}">[{}, {}]</span>', title, figure(low, digits), figure(high, digits)
        )
        parts.append(span)
        if minimum is not None and maximum is not None and minimum < maximum:  # else all of them are at one place
            parts.append(interval_bar(value, low, high, minimum, maximum))
    if n is not None:
        parts.append(format_html('<span class="estimate-n"><i>n</i>\u00a0{}</span>', f"{n:,}"))
    fine = " estimate--fine" if digits > 2 else ""
    return format_html(
        '<span class="estimate{}">{}</span>', fine, format_html_join(" ", "{}", ((part,) for part in parts))
    )


@register.simple_tag
def number_cell(value: Any, digits: int = 2) -> SafeString:
    """Show a table cell with a number; the unrounded number stays in it for sorting."""
    return format_html('<td class="num" data-value="{}">{}</td>', plain(value), figure(value, digits))


@register.simple_tag
def estimate_cell(value: Any, low: Any = None, high: Any = None, n: int | None = None, **options: Any) -> SafeString:
    """Show a table cell with a number, its interval and n; it sorts by the number."""
    shown = estimate(value, low, high, n, **options)
    return format_html('<td class="num" data-value="{}">{}</td>', plain(value), shown)


@register.simple_tag
def votes(a: int, n: int, b: int, names: str = "left, neither, right") -> SafeString:
    """Draw how many judges chose a, neutral and b. `names`, with commas between them, and the numbers are its label."""
    total = a + n + b
    shares = (f"{name} {count}" for name, count in zip(names.split(", "), (a, n, b), strict=True))
    label = f"{total} judgment{'' if total == 1 else 's'}: {', '.join(shares)}"
    rects, left = [], 0.0
    for kind, count in (("a", a), ("n", n), ("b", b)):
        width = 100 * count / total if total else 0.0
        rects.append((kind, f"{left:.2f}", f"{max(width - 0.6, 0):.2f}"))
        left += width
    drawn = format_html_join("", '<rect class="{}" x="{}" y="0" width="{}" height="12"/>', rects)
    return format_html(
        '<svg class="votes" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>',
        label,
        drawn,
    )


@register.inclusion_tag("ui/_sidebar.html", takes_context=True)
def study_sidebar(context: Context) -> dict[str, Any]:
    """Show the pages of the study in groups.

    The current one belongs to the page's `section`; of several, and if no section is named, it is the one whose URL is
    the longest prefix of the page's own. Links between results keep the displayed run.
    """
    study, here = context["study"], context["request"].path
    home = reverse("study", args=[study.slug])
    run = f"?run={context['run'].key}" if context.get("asked_for") else ""
    groups: dict[navigation.Group, list[dict[str, Any]]] = {}
    for item in context["navigation"]:
        url = reverse(item.url_name, args=[study.slug])
        is_beginning = here == url or (here.startswith(url) and url != home)
        shown = {"item": item, "url": url, "is_beginning": is_beginning, "is_current": False}
        shown["href"] = url + run if item.section == "results" else url
        shown["badge"] = sum(entry.count for entry in context["inbox"]) if item.has_badge else 0
        shown["count"] = context["sidebar_counts"].get(item.url_name, 0) if item.has_count else 0
        groups.setdefault(item.group, []).append(shown)
    shown_items = [each for group in groups.values() for each in group]
    named = [each for each in shown_items if each["item"].section == context.get("section")]
    fitting = [each for each in named or shown_items if each["is_beginning"]]
    if current := max(fitting, key=lambda each: len(each["url"]), default=None) or next(iter(named), None):
        current["is_current"] = True
    return {"groups": groups.items(), "here": here, "study": study}


@register.simple_tag(takes_context=True)
def study_card(context: Context, card: dict[str, Any]) -> SafeString:
    """Show a registered card of a study's overview, with its context."""
    card_template = context.template.engine.get_template(card["template"])  # type: ignore[union-attr]
    with context.push(**card, card=card):
        return card_template.render(context)


@register.simple_tag(takes_context=True)
def sort_header(context: Context, label: str, key: str, numeric: bool = False) -> SafeString:
    """Show a header for sorting on the server (`?sort=key`, `?sort=-key`), for paginated tables."""
    query = context["request"].GET.copy()
    current = query.get("sort", "")
    order = {key: "ascending", f"-{key}": "descending"}.get(current, "none")
    query["sort"] = f"-{key}" if current == key else key
    query.pop("page", None)
    number_class = mark_safe(' class="num"') if numeric else ""
    return format_html(
        '<th scope="col"{} aria-sort="{}"><a class="sort" href="?{}">{}</a></th>',
        number_class,
        order,
        query.urlencode(),
        label,
    )

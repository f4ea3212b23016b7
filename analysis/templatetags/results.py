"""Template tags that format IDs, charts and captions on results pages."""

import re
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from crowdrag.jobs.models import Run
from crowdrag.ui.templatetags.ui import figure

from .. import typesetter
from ..analyses import queries
from ..figures import figure as figure_module
from ..figures.figure import FIGURES, Figure
from ..methods import significance_marks, undefined_values
from ..reports import builder, report_kinds
from ..tables import cells
from ..tables.display_table import DisplayTable, Value
from ..tables.table import Table, fill, get

register = template.Library()
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
LONGEST = 24


@register.filter
def short(name: str) -> str:
    """Shorten an ID: a UUID to its first group, others to the available space."""
    if UUID.match(name):
        return f"{name[:8]}…"
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


@register.inclusion_tag("analysis/figures/_chart.html", takes_context=True)
def result_chart(context: template.Context, name: str) -> dict[str, Any]:
    """Show a chart of this run with its caption: `{% result_chart "agreement" %}`."""
    run = context["run"]
    declared = FIGURES[name]
    drawn: set[str] | None = context.get("figures_with_data")
    return {
        "study": context["study"], "run": run, "name": name, "alt": declared.alt, "title": declared.title,
        "has_data": drawn is None or name in drawn,
        "caption": undefined_values.with_interval_note(
            fill(declared.caption, report_kinds.of(run).caption_parameters(run)),
            declared.tables,
            context.get("no_intervals") or {},
        ),
    }  # fmt: skip


@register.simple_tag(takes_context=True)
def table_caption(context: template.Context, name: str) -> str:
    """Return the standard caption of a table: `<caption>{% table_caption "agreement" %}</caption>`."""
    run = context["run"]
    caption = fill(get(name).caption, report_kinds.of(run).caption_parameters(run))
    return undefined_values.with_interval_note(caption, [name], context.get("no_intervals") or {})


@register.simple_tag(takes_context=True)
def promised(context: template.Context, caption: str, name: str) -> str:
    """Add a note on missing intervals to a page's own caption: `{% promised caption "agreement" as caption %}`."""
    return undefined_values.with_interval_note(caption, [name], context.get("no_intervals") or {})


@register.simple_tag
def report_tables(run: Run, tables: tuple[Table, ...]) -> list[DisplayTable]:
    """Return tables of a run as in its report: `{% report_tables run method.tables as shown %}`."""
    return list(builder.tables_of(run, tables))


@register.simple_tag
def tables_named(run: Run, *names: str) -> list[DisplayTable]:
    """Return tables of a run by name: `{% tables_named run "agreement_ac1" as tables %}`."""
    return list(builder.tables_of(run, [get(name) for name in names]))


@register.simple_tag
def figures_with_data(run: Run, *names: str) -> set[str]:
    """Return which of these figures the run has data for; `result_chart` says of the others that there is none.

    Use it as `{% figures_with_data run "lengths" "survey" as figures_with_data %}`.
    """
    return figure_module.with_data(run, names)


@register.simple_tag
def figures_of(run: Run, figures: tuple[Figure, ...]) -> list[Figure]:
    """Return the figures for which the run has data."""
    return [figure for figure in figures if figure_module.has_something(run, figure)]


@register.filter
def p_value(p: float) -> str:
    """Return a p-value with its sign as in tables: "= 0.0312", "< 0.0001"."""
    words = significance_marks.tests_in_words(p)
    return words if words.startswith("<") else f"= {words}"


@register.filter
def departures(run: Run) -> str:
    """Describe the parameters that differ from the defaults: "Bootstrap resamples: 100, Seed: 2"."""
    return ", ".join(f"{label}: {value}" for label, value in queries.changed_parameters(run))


@register.filter
def first_rows(rows: tuple[dict[str, Value], ...], most: int | str) -> tuple[dict[str, Value], ...]:
    """Return the first rows of a table, or all of them without a number."""
    return rows[:most] if isinstance(most, int) else rows


@register.filter
def report_cells(table: DisplayTable, row: dict[str, Value]) -> list[cells.Cell]:
    """Return the formatted cells of a row in a report's table."""
    return cells.cells(table, row)


@register.simple_tag
def p_cell(value: float | None, stars: str = "", note: str = "") -> SafeString:
    """Return a cell with a p-value; if there is none, a dash with the reason as its title."""
    if value is None:
        return format_html('<td class="num" data-value="" title="{}">{}</td>', note, figure(None))
    marks = format_html(' <span class="mark">{}</span>', stars) if stars else ""
    return format_html(
        '<td class="num" data-value="{}">{}{}</td>', repr(value), significance_marks.tests_in_words(value), marks
    )


@register.filter
def visible(text: str) -> str:
    """Make invisible characters in a user's text visible."""
    return typesetter.visible(text)


@register.filter
def named(mapping: dict[str, Any], name: str) -> Any:
    """Return the value of a name in a mapping."""
    return mapping.get(name, "")


@register.filter
def number(value: int) -> str:
    """Format an integer with thousands separators."""
    return f"{value:,}"

"""Page about writing: lengths, citations, reading ease, surveys, and the writing process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Paginator
from django.http import QueryDict
from django.utils.functional import Promise

from crowdrag.studies.models import Study

from ..tables import run_tables, value_labels
from ..tables.rows import NOTE, Row
from ..tables.run_tables import AnalysisState
from ..tables.table import fill, get
from ..tables.value_labels import Questions
from . import undefined_values
from .citations.tables import PASSAGES, SETS
from .lengths.tables import MEASURES as LENGTHS
from .readability.tables import EASES
from .shared_columns import STATISTICS
from .undefined_values import by_table
from .writing_process.tables import PROCESS, PROCESS_SHARES

RESPONSES_PER_PAGE = 25
SHOWN = ("mean", "median")
READ = (
    "lengths", "readability", "citation_overlap", "citation_order", "citation_rank_medians", "survey",
    "writing_process_means", "responses", "text_reuse_shares",
)  # fmt: skip
#: Table shown together with the chart of Figure 3.
REUSE = "text_reuse"

Words = str | Promise
Key = tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """A number in a table of the page, with its interval and n; None if undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    digits: int
    note: str = ""


@dataclass
class Pivot:
    """A table of the page: groups of rows with one cell per column. `name` is the name of the source table."""

    name: str
    corner: Words
    columns: list[str]
    title: str
    caption: str
    groups: list[dict[str, Any]] = field(default_factory=list)


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    if state.run is None:
        return {}
    tables = run_tables.read(state.run, *READ)
    names = set(run_tables.names(state.run))
    styles = value_labels.styles(study)
    maker = _Maker(tables, styles, Questions.of(study), state.run.parameters)
    shown = Paginator(tables["responses"], RESPONSES_PER_PAGE).get_page(query.get("page"))
    return {
        "lengths": maker.lengths(),
        "overlap": maker.pairs("citation_overlap", "jaccard"),
        "order": maker.pairs("citation_order", "rho"),
        "medians": maker.medians(),
        "ease": maker.ease(),
        "questions": maker.questions(),
        "together": maker.together(),
        "process": maker.process(),
        "page": shown,
        "responses": [
            row | {"style": styles.get(row["style"], row["style"]), "origin_label": value_labels.origin(row["origin"])}
            for row in shown
        ],
        "has_reuse": REUSE in names,
        "reuse": maker.reuse(),
        "no_intervals": maker.without,
        "notes": by_table(tables, READ),
    }


class _Maker:
    """Builder of the page's tables from rows."""

    def __init__(
        self,
        tables: dict[str, list[Row]],
        styles: dict[str, str],
        survey_questions: Questions,
        parameters: dict[str, Any],
    ) -> None:
        self.tables, self.styles, self.survey_questions, self.parameters = tables, styles, survey_questions, parameters
        self.without = undefined_values.without_intervals(tables)

    def lengths(self) -> Pivot | None:
        """Mean and median by style; a group for each measure, columns for origins."""
        rows = [row for row in self.tables["lengths"] if row["statistic"] in SHOWN]
        digits = {"words": 0}
        return self._pivot(
            "lengths", rows, group=("measure",), row=("style",), column=("origin", "statistic"), corner="Style",
            say={"measure": LENGTHS, "statistic": STATISTICS}, digits=lambda row: digits.get(row["measure"], 2),
        )  # fmt: skip

    def pairs(self, name: str, value: str) -> Pivot | None:
        """A row for each pair of sets, columns for styles: the layout of crowdrag25, Table 3."""
        return self._pivot(
            name, self.tables[name], row=("pair",), column=("style",), corner="Pair", say={"pair": SETS}, value=value
        )

    def medians(self) -> Pivot | None:
        """Median ranks of cited and uncited passages by style and origin: crowdrag25, Figure 2 (right)."""
        return self._pivot(
            "citation_rank_medians", self.tables["citation_rank_medians"], row=("style",),
            column=("origin", "passages"), corner="Style", say={"passages": PASSAGES}, value="median_rank",
            digits=lambda _each: 1,
        )  # fmt: skip

    def reuse(self) -> Pivot | None:
        """Share of statements that are not copied, by style and origin, in per cent (crowdrag25, Figure 3)."""
        rows = [
            row | {key: None if row[key] is None else 100 * row[key] for key in ("share", "low", "high")}
            for row in self.tables["text_reuse_shares"]
        ]
        return self._pivot(
            "text_reuse_shares", rows, row=("style",), column=("origin",), corner="Style", value="share",
            say={}, digits=lambda _each: 1,
        )  # fmt: skip

    def ease(self) -> Pivot | None:
        """Median reading ease of responses, of cited passages, and the difference, by style and origin."""
        rows = [row for row in self.tables["readability"] if row["statistic"] == "median"]
        return self._pivot(
            "readability", rows, row=("style",), column=("origin", "measure"), corner="Style",
            say={"measure": EASES}, digits=lambda _each: 1,
        )  # fmt: skip

    def questions(self) -> Pivot | None:
        """Mean and median of each question; the figure shows the shares of answers."""
        rows = [row for row in self.tables["survey"] if row["statistic"] in SHOWN]
        return self._pivot(
            "survey", rows, row=("question", "kind"), column=("statistic",), corner="Question",
            say={"statistic": STATISTICS},
        )  # fmt: skip

    def together(self) -> Pivot | None:
        """Correlations between the answers to two questions, the strongest first."""
        rows = [row for row in self.tables["survey"] if row["statistic"] == "rho"]
        rows = sorted(rows, key=lambda row: -abs(row["value"] or 0))
        pivot = self._pivot(
            "survey", rows, row=("question", "kind"), column=("statistic",), corner="Questions",
            say={"statistic": STATISTICS},
        )  # fmt: skip
        if pivot is not None:
            pivot.title = "Answers to two questions"
        return pivot

    def process(self) -> Pivot | None:
        """Medians of the measures from logs, a column for each style."""
        rows = [row for row in self.tables["writing_process_means"] if row["statistic"] == "median"]
        return self._pivot(
            "writing_process_means", rows, row=("measure",), column=("style",), corner="Measure",
            say={"measure": PROCESS}, digits=lambda row: 2 if row["measure"] in PROCESS_SHARES else 0,
        )  # fmt: skip

    def _pivot(
        self,
        name: str,
        rows: Sequence[Row],
        *,
        row: Key,
        column: Key,
        corner: str,
        say: dict[str, Any],
        group: Key = (),
        value: str = "value",
        digits: Callable[[Row], int] = lambda _row: 2,
    ) -> Pivot | None:
        if not rows:
            return None
        at = {(_key(cell_row, group), _key(cell_row, row), _key(cell_row, column)): cell_row for cell_row in rows}
        columns = list(dict.fromkeys(_key(cell_row, column) for cell_row in rows))
        described = get(name)
        pivot = Pivot(
            name=name,
            corner=corner,
            columns=[self._key_label(column, key, say) for key in columns],
            title=str(described.title),
            caption=undefined_values.with_interval_note(fill(described.caption, self.parameters), [name], self.without),
        )
        for group_key in dict.fromkeys(_key(cell_row, group) for cell_row in rows):
            lines = dict.fromkeys(_key(cell_row, row) for cell_row in rows if _key(cell_row, group) == group_key)
            pivot.groups.append({
                "label": self._key_label(group, group_key, say) if group else "",
                "rows": [
                    {
                        "label": self._key_label(row, line, say),
                        "cells": [_cell(at.get((group_key, line, key)), value, digits) for key in columns],
                    }
                    for line in lines
                ],
            })  # fmt: skip
        return pivot

    def _key_label(self, names: Key, key: Key, say: dict[str, Any]) -> str:
        """Return the label of a key."""
        if "question" in names:
            return self.survey_questions.text(dict(zip(names, key, strict=True)))
        parts = []
        for name, part in zip(names, key, strict=True):
            if name == "style":
                parts.append(self.styles.get(part, part))
            elif name == "origin":
                parts.append(value_labels.origin(part))
            else:
                parts.append(str(say.get(name, {}).get(part, part)))
        return ": ".join(parts)


def _key(row: Row, names: Key) -> Key:
    return tuple(row[name] for name in names)


def _cell(row: Row | None, value: str, digits: Callable[[Row], int]) -> Cell | None:
    if row is None:
        return None
    return Cell(row[value], row["low"], row["high"], row["n"], digits(row), row.get(NOTE, ""))

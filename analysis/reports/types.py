"""Reports as values, independent of data source and output format."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..tables.display_table import DisplayTable, Value


@dataclass(frozen=True)
class Chart:
    """A chart with its caption as a Vega-Lite specification; `alt` is its text alternative.

    `svg` is its drawing, or empty if it has not been drawn yet.
    """

    name: str
    title: str
    caption: str
    alt: str
    spec: Mapping[str, Any]
    svg: str = ""


@dataclass(frozen=True)
class Section:
    """Tables and charts on one subject."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[DisplayTable, ...] = ()
    charts: tuple[Chart, ...] = ()

    @property
    def has_content(self) -> bool:
        """Whether there is something to show below its title."""
        return bool(self.paragraphs or self.charts or any(table.size for table in self.tables))


@dataclass(frozen=True)
class Reference:
    """A cited work: key, kind and fields as in BibTeX."""

    key: str
    kind: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Methods:
    """The methods text for a paper: paragraphs in English with citations as `[@key]`, and the works cited."""

    paragraphs: tuple[str, ...]
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class About:
    """Provenance of the results: the same inputs, parameters, seed and code reproduce them.

    Attributes
    ----------
    as_of : datetime
        When the judgments were read.
    finished_at : datetime or None
        When the run finished. The report does not use the current time.
    stale : str
        Why the data have changed since the run; empty if they have not.
    """

    study: str
    slug: str
    run: str
    parameters: tuple[tuple[str, Value], ...]
    seed: int
    inputs_digest: str
    code_version: str
    environment: tuple[tuple[str, str], ...]
    as_of: datetime
    finished_at: datetime | None
    is_simulated: bool
    stale: str = ""


@dataclass(frozen=True)
class Report:
    """A report of one finished analysis."""

    title: str
    about: About
    methods: Methods
    sections: tuple[Section, ...] = field(default=())

    @property
    def shown_sections(self) -> tuple[Section, ...]:
        """The sections with content; files contain the tables of the others too, without rows."""
        return tuple(section for section in self.sections if section.has_content)

    @property
    def tables(self) -> Iterator[DisplayTable]:
        """All tables in reading order."""
        return (table for section in self.sections for table in section.tables)

    @property
    def charts(self) -> Iterator[Chart]:
        """All charts in reading order."""
        return (chart for section in self.sections for chart in section.charts)

    def with_drawings(self, svg: Mapping[str, str]) -> "Report":
        """Return the report with drawings of its charts, by name."""
        sections = (
            replace(section, charts=tuple(replace(chart, svg=svg[chart.name]) for chart in section.charts))
            for section in self.sections
        )
        return replace(self, sections=tuple(sections))

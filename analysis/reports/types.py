"""A report as a value, independent of its source and of output formats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..tables.display_table import DisplayTable, Value


@dataclass(frozen=True)
class Chart:
    """A chart with its caption, as a Vega-Lite specification; `alt` says what one sees."""

    name: str
    title: str
    caption: str
    alt: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """Tables and charts about one thing."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[DisplayTable, ...] = ()
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True)
class Reference:
    """A work that is cited: its key, kind and fields as BibTeX has them."""

    key: str
    kind: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Methods:
    """What was done, ready for a paper: paragraphs in English with citations as `[@key]`, and the works cited."""

    paragraphs: tuple[str, ...]
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class About:
    """What made the results: with the same inputs, parameters, seed and code they come out the same.

    Attributes
    ----------
    as_of : datetime
        When the judgments were read.
    finished_at : datetime or None
        The report's only clock.
    stale : str
        Why the data that the run used are others now; empty if they are not.
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
    def tables(self) -> Iterator[DisplayTable]:
        """All tables in the order in which they are shown."""
        return (table for section in self.sections for table in section.tables)

    @property
    def charts(self) -> Iterator[Chart]:
        """All charts in the order in which they are shown."""
        return (chart for section in self.sections for chart in section.charts)

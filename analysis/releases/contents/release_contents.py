"""Reading what a release holds: its tables, what was left out of them, and of whom something is in."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ..choices import Choices
from ..personal_data.redaction import Redaction
from . import judgment_tables, log_tables, response_tables
from .content_table import ContentTable
from .crowdrag25_layout import Layout
from .people import Names, People
from .result_tables import Results
from .selection import Exclusion, ExclusionCount, Selection
from .source import Clock, Source


@dataclass(frozen=True)
class Contents:
    """What a release holds.

    Attributes
    ----------
    tables
        one fact a row; what is not chosen has no table.
    layout
        the same in the layout of the CrowdRAG-25 corpus, each named by its path without ending (`raw/study1_tasks`).
        What it cannot say is not there: `layout_left_out` tells it, when all files of it are written.
    participants
        the keys of everybody of whom something is in, ascending: never to be released.
    runs
        those whose results are in, in the order of the table `runs`.
    licences
        under which people released their texts, as they agreed to; with one that all may have, the release's.
    """

    tables: tuple[ContentTable, ...]
    layout: tuple[ContentTable, ...]
    left_out: tuple[Exclusion, ...]
    layout_left_out: Callable[[], tuple[Exclusion, ...]]
    participants: tuple[int, ...]
    runs: tuple[Run, ...]
    licences: tuple[str, ...]


def read_contents(*, study: Study, choices: Choices, release: str) -> Contents:
    """Read what a release of a study holds; `release` names it among the study's, as in `3`.

    Called inside `corpus.consistent.reading()`, and its rows are read there: then all of it is of one moment.
    """
    people, count = People(study, choices), ExclusionCount()
    blackout = Redaction(study, choices)
    selection = Selection(study, choices, people, blackout, count)
    names, clock = Names(study, choices, release), Clock(choices.timing)
    source = Source(study, choices, selection, names, clock)
    log_tables.count(source)
    for what, reason in blackout.left_out():
        count.add(what, reason)
    results = Results(source)
    tables = [
        *response_tables.tables(source),
        *log_tables.tables(source),
        *judgment_tables.tables(source),
        *results.tables(),
    ]
    layout = Layout(source, results)
    return Contents(
        tables=tuple(_within(tables)),
        layout=tuple(layout.tables()),
        left_out=count.total(),
        layout_left_out=layout.left_out,
        participants=tuple(sorted(selection.participants)),
        runs=results.runs,
        licences=tuple(sorted(selection.licences)),
    )


def _within(tables: Sequence[ContentTable]) -> Iterator[ContentTable]:
    """Yield the tables, without references to tables that are not included."""
    names = {table.name for table in tables}
    for table in tables:
        columns = (
            column if column.refers_to.split(".")[0] in names else replace(column, refers_to="")
            for column in table.columns
        )
        yield replace(table, columns=tuple(columns))

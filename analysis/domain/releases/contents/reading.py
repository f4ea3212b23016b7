"""Reading what a release holds: its tables, what was left out of them, and of whom something is in."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ..choices import Choices
from ..personal.blacking import Blackout
from . import judged, logged, written
from .layout import Layout
from .left_out import Count, LeftOut
from .names import Names
from .people import People
from .results import Results
from .selecting import Selection
from .source import Source
from .table import Table
from .times import Clock


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

    tables: tuple[Table, ...]
    layout: tuple[Table, ...]
    left_out: tuple[LeftOut, ...]
    layout_left_out: Callable[[], tuple[LeftOut, ...]]
    participants: tuple[int, ...]
    runs: tuple[Run, ...]
    licences: tuple[str, ...]


def of(*, study: Study, choices: Choices, release: str) -> Contents:
    """Read what a release of a study holds; `release` names it among the study's, as in `3`.

    Called inside `corpus.consistent.reading()`, and its rows are read there: then all of it is of one moment.
    """
    people, count = People(study, choices), Count()
    blackout = Blackout(study, choices)
    selection = Selection(study, choices, people, blackout, count)
    names, clock = Names(study, choices, release), Clock(choices.timing)
    source = Source(study, choices, selection, names, clock)
    logged.count(source)
    for what, reason in blackout.left_out():
        count.add(what, reason)
    results = Results(source)
    tables = [*written.tables(source), *logged.tables(source), *judged.tables(source), *results.tables()]
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


def _within(tables: Sequence[Table]) -> Iterator[Table]:
    """Yield the tables, their columns referring to no table that is not there."""
    there = {table.name for table in tables}
    for table in tables:
        columns = (
            each if each.refers_to.split(".")[0] in there else replace(each, refers_to="") for each in table.columns
        )
        yield replace(table, columns=tuple(columns))

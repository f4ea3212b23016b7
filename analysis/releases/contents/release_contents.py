"""Reading of a release's contents: its tables, what was left out, and whose data are included."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ..choices import Choices
from ..personal_data.redaction import Redaction
from . import judgment_tables, log_tables, response_tables
from .content_table import ContentTable
from .crowdrag25_layout import Layout
from .permissions import Permissions
from .pseudonyms import Names
from .result_tables import Results
from .selection import Exclusion, ExclusionCount, Making, Selection
from .source import Clock, Source


@dataclass(frozen=True)
class Contents:
    """Contents of a release.

    Attributes
    ----------
    tables
        Normalised tables; those not selected are missing.
    layout
        The same in the layout of the CrowdRAG-25 corpus, named by path without suffix (`raw/study1_tasks`). What does
        not fit the layout is counted in `layout_left_out`, once all its files are written.
    participants
        Primary keys of everybody whose data are included, ascending. Never release these.
    runs
        Runs whose results are included, in the order of the table `runs`.
    licences
        Licences under which people released their texts; if one may apply to all, that of the release.
    makings
        How the included texts came about.
    """

    tables: tuple[ContentTable, ...]
    layout: tuple[ContentTable, ...]
    left_out: tuple[Exclusion, ...]
    layout_left_out: Callable[[], tuple[Exclusion, ...]]
    participants: tuple[int, ...]
    runs: tuple[Run, ...]
    licences: tuple[str, ...]
    makings: frozenset[Making]


def read_contents(*, study: Study, choices: Choices, release: str) -> Contents:
    """Read the contents of a release; `release` identifies it within the study, as in `3`.

    Call this inside `inputs.snapshots.repeatable_read` and read the rows there too: everything is then from one moment.
    """
    permissions, count = Permissions(study, choices), ExclusionCount()
    blackout = Redaction(study, choices)
    selection = Selection(study, choices, permissions, blackout, count)
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
        makings=frozenset(selection.makings),
    )


def _within(tables: Sequence[ContentTable]) -> Iterator[ContentTable]:
    """Yield the tables without references to tables that are not included."""
    names = {table.name for table in tables}
    for table in tables:
        columns = (
            column if column.refers_to.split(".")[0] in names else replace(column, refers_to="")
            for column in table.columns
        )
        yield replace(table, columns=tuple(columns))

"""Reading what a release holds: its tables, what was left out of them, and of whom something is in."""

from dataclasses import dataclass

from crowdrag.runs.models import Run
from crowdrag.studies.models import Study

from ..choices import Choices
from .left_out import LeftOut
from .table import Table


@dataclass(frozen=True)
class Contents:
    """What a release holds.

    Attributes
    ----------
    tables
        one fact a row; what is not chosen has no table.
    layout
        the same in the layout of the CrowdRAG-25 corpus, each named by its path without ending (`raw/study1_tasks`).
        What it cannot say is not there: it is said in `layout_left_out`.
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
    layout_left_out: tuple[LeftOut, ...]
    participants: tuple[int, ...]
    runs: tuple[Run, ...]
    licences: tuple[str, ...]


def of(*, study: Study, choices: Choices, release: str) -> Contents:
    """Read what a release of a study holds; `release` names it among the study's, as in `3`.

    Called inside `corpus.consistent.reading()`, and its rows are read there: then all of it is of one moment.
    """
    raise NotImplementedError

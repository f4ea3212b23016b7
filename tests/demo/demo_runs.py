"""The demo for a whole file of tests, and doing what it has planned, in this process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection
from django.test import override_settings

from crowdrag.demo import setup
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Study
from tests.annotation.judge_actions import check_constraints
from tests.factories import NOW


@contextmanager
def demo_in(folder: Path) -> Iterator[setup.Demo]:
    """Set up the demo without a model, in the transaction that is open; its runs are planned and not done."""
    with override_settings(DATA_DIR=folder, LLM_URL=""):
        # An import has constraints checked at once until its transaction ends, which here goes on.
        with connection.execute_wrapper(_without_immediate_checks):
            demo = setup.set_up(now=NOW)
        check_constraints()
        yield demo


def _without_immediate_checks(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
    return None if sql == "SET CONSTRAINTS ALL IMMEDIATE" else execute(sql, *arguments)


def finish_runs(study: Study) -> None:
    """Do whatever the study has planned."""
    while run := study.runs.filter(state__in=[RunState.PLANNED, RunState.RUNNING]).order_by("id").first():
        assert lifecycle.wait(run).state == RunState.DONE, (run.kind, run.error)

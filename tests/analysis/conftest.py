"""What tests of the analysis share."""

import pytest
from django.db import transaction

from analysis.domain import analysing
from analysis.domain.corpus import consistent
from crowdrag.runs.domain import running
from crowdrag.runs.models import Run
from tests.analysis import small_study


@pytest.fixture
def one_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let exports and releases read in the transaction of the test: nobody else writes meanwhile."""
    monkeypatch.setattr(consistent, "reading", transaction.atomic)


@pytest.fixture(scope="module")
def analysed(shared_rows: None) -> int:
    """The key of a quick analysis of the small study, made once for a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)
        quick = {"resamples": 30, "restarts": 3, "refine": 0}
        return running.wait(analysing.start(study=small_study.make(), parameters=quick)).pk


@pytest.fixture
def run(analysed: int, db: None) -> Run:
    """That analysis, of `run.study`."""
    return Run.objects.get(pk=analysed)

"""What tests of the analysis share."""

from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from analysis.inputs import snapshots
from crowdrag.jobs.models import Run
from tests.analysis import small_study


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for a broker: tests do the work of runs themselves."""
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)


@pytest.fixture
def own_files(tmp_path: Path, settings: Any) -> None:
    """Keep files that are stored in a folder of the test."""
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "files", tmp_path


@pytest.fixture
def one_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let exports and releases read in the transaction of the test: nobody else writes meanwhile."""
    monkeypatch.setattr(snapshots, "repeatable_read", transaction.atomic)


@pytest.fixture(scope="module")
def analysed(shared_rows: None) -> int:
    """The key of a quick analysis of the small study, made once for a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
        return small_study.analyse(small_study.make()).pk


@pytest.fixture
def run(analysed: int, db: None) -> Run:
    """That analysis, of `run.study`."""
    return Run.objects.get(pk=analysed)

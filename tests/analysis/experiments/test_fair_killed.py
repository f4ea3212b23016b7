"""Fair RAG as a run whose process is killed: rows are committed, so that another process works on them."""

import os
import subprocess
import sys
import time
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from analysis.domain.experiments import starting
from crowdrag.runs.domain import running

from .test_fair import order, planted, questions, rows  # noqa: F401 - a fixture among them

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("planted"), pytest.mark.soak]


@pytest.mark.parametrize("after", [0.3, 1.0, 2.0, 4.0])
def test_a_process_that_is_killed_hard_loses_nothing(tmp_path, settings, after) -> None:
    settings.RUNS_LEASE_SECONDS = 2
    study, upload = questions(tmp_path)
    whole = rows(running.wait(starting.start(order(study, upload.pk))))
    run = starting.start(order(study, upload.pk))
    url = urlsplit(os.environ["DATABASE_URL"])
    database = urlunsplit(url._replace(path="/" + str(connection.settings_dict["NAME"])))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.analysis.experiments.fair_worker", str(run.key)], cwd=settings.BASE_DIR,
        env=os.environ | {"DATABASE_URL": database},
    )  # fmt: skip
    ends_at = time.monotonic() + 120
    while not run.units.filter(fence__gt=0).exists():
        assert time.monotonic() < ends_at
        time.sleep(0.02)
    time.sleep(after)
    process.kill()
    process.wait()
    assert rows(running.wait(run)) == whole

"""A run that asks for money, whose worker is killed hard again and again: the same result, and nothing paid twice."""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from analysis.experiments import services
from analysis.experiments.experiment import get
from analysis.models import ResultTable, UnitResult
from crowdrag.jobs import lifecycle, run_files
from crowdrag.jobs import worker as jobs_worker
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Attempt, Call
from tests.analysis.experiments import planted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_broker", "experiment", "paid")]
QUESTIONS = 120
SLOW = pytest.mark.timeout(1800)


@pytest.fixture
def collection(study, tmp_path):
    """Questions of which each is two prompts that take their time; every other one is answered rightly."""
    path = tmp_path / "asked.jsonl"
    rows = [
        {
            "id": f"q{n}",
            "question": f"slow:0.2 q{n}",
            "golden_answers": ["late" if n % 2 else "early"],
            "documents": [{"id": "d", "text": f"slow:0.2 d{n}"}],
        }
        for n in range(QUESTIONS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return services.of_upload(study, "qa", run_files.store_upload(study=study, source=path).pk)


def worker(run: Run) -> subprocess.Popen[bytes]:
    url = urlsplit(os.environ["DATABASE_URL"])
    database = urlunsplit(url._replace(path="/" + str(connection.settings_dict["NAME"])))
    return subprocess.Popen(
        [sys.executable, "-m", "tests.analysis.experiments.planted_worker", str(run.key)],
        env=os.environ | {"DATABASE_URL": database},
    )


@pytest.mark.parametrize(
    "most", [pytest.param(3, marks=pytest.mark.extended), pytest.param(20, marks=[pytest.mark.soak, SLOW])]
)
def test_killed_again_and_again_it_ends_the_same_and_pays_nothing_twice(study, collection, server, settings, most):
    settings.RUNS_LEASE_SECONDS = 2
    rng, kills = random.Random(11), 0
    run = services.start(
        services.order(get("planted"), study, {"generator": "endpoint:odd", "collection": collection}, seed=1)
    )
    while kills < most:
        process, before, ends_at = worker(run), len(server.seen), time.monotonic() + 120
        while len(server.seen) == before and process.poll() is None:
            assert time.monotonic() < ends_at
            time.sleep(0.01)
        assert process.poll() is None, f"it was done after {kills} kills: ask more"
        time.sleep(rng.uniform(0, 0.6))
        process.kill()
        process.wait()
        kills += 1
    time.sleep(settings.RUNS_LEASE_SECONDS)
    while jobs_worker.work_next(run):
        pass
    run = lifecycle.wait(run)
    assert (run.state, run.error) == ("DONE", "")
    rows = ResultTable.objects.get(run=run, name=planted.TABLE).rows
    assert [(row["condition"], row["score"], row["n"]) for row in rows] == [
        ("bare", 0.5, QUESTIONS), ("full", 0.5, QUESTIONS)
    ]  # fmt: skip
    assert UnitResult.objects.filter(run=run).count() == 2 * QUESTIONS
    # Each prompt has one answer that was kept. What was sent more than once was on its way when the process died.
    assert Call.objects.filter(state="ANSWERED").count() == Call.objects.count() == 2 * QUESTIONS
    sent = Counter(body["messages"][0]["content"] for _headers, body in server.seen)
    assert len(sent) == 2 * QUESTIONS
    assert sum(sent.values()) - len(sent) <= Attempt.objects.unsettled().count()
    whole = lifecycle.wait(
        services.start(services.order(get("planted"), study, {"generator": "endpoint:odd", "collection": collection}))
    )
    assert ResultTable.objects.get(run=whole, name=planted.TABLE).rows == rows
    assert len(server.seen) == sum(sent.values())

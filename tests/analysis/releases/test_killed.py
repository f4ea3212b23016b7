"""A process that builds a release is killed at any moment: no half file has a final name, and the next gets it done."""

import hashlib
import os
import random
import signal
import time
from pathlib import Path

import pytest
from django.db import connections

from analysis.enums import ReleaseState
from analysis.models import Release
from analysis.releases import builds
from analysis.releases.choices import Choices, Logs
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Study
from tests.analysis.releases.release_actions import built, drafted
from tests.analysis.whole_study import whole_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1800), pytest.mark.extended]
EVERYTHING = Choices(logs=Logs.FULL, comments=True, excluded=True, tables=True)


@pytest.fixture(autouse=True)
def files(own_files: None, settings) -> Path:
    settings.RUNS_LEASE_SECONDS = 1
    return settings.MEDIA_ROOT


def in_a_process(run) -> int:
    """Build in a process of its own, and return its number."""
    # Its connection is the parent's too: the child must neither use nor close it.
    kept = connections["default"].connection
    if (child := os.fork()) == 0:
        connections["default"].connection = None
        try:
            lifecycle.wait(run)
        finally:
            os._exit(0 if kept else 1)
    return child


def assert_only_whole_files(files: Path) -> None:
    """A file's place holds the beginning of its sum: no file under a final name has another."""
    for path in files.rglob("*"):
        if path.is_file() and not path.name.endswith(".part"):
            assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(path.parent.name), path


def assert_whole(release: Release, files: Path) -> None:
    assert release.state == ReleaseState.READY
    for file in release.files.all():
        content = (files / str(file.file.name)).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256), file.path
    lying = {str(path.relative_to(files)) for path in files.rglob("*") if path.is_file()}
    assert {str(name) for name in release.files.values_list("file", flat=True)} <= lying


def kill_at_random(study: Study, files: Path, *, kills: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    began = time.monotonic()
    first = built(study, EVERYTHING)
    lasts = time.monotonic() - began
    met = []
    for _kill in range(kills):
        release = drafted(study, EVERYTHING)
        run = builds.start(release=release)
        child = in_a_process(run)
        time.sleep(rng.uniform(0, lasts))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        release.refresh_from_db()
        met.append(f"{release.state}, {run.units.filter(state='DONE').count()} units done")
        assert_only_whole_files(files)
        if release.state == ReleaseState.BUILDING:
            assert not release.files.exists()
        done = lifecycle.wait(run)
        assert (done.state, done.error) == (RunState.DONE, "")
        release.refresh_from_db()
        assert_whole(release, files)
        rows = {name: n for name, n in release.figures["rows"].items() if name != "runs"}
        assert rows == {name: n for name, n in first.figures["rows"].items() if name != "runs"}
        left = [path for path in (files / "releases" / str(run.key)).rglob("*") if path.is_file()]
        assert len(left) == release.files.count()
    return met


def test_killed_at_some_moments_no_half_release_is_left(files: Path) -> None:
    print(*kill_at_random(whole_study(), files, kills=3, seed=1), sep="\n")


@pytest.mark.soak
def test_killed_at_twenty_random_moments_no_half_release_is_left(files: Path) -> None:
    met = kill_at_random(whole_study(), files, kills=20, seed=2)
    print(*met, sep="\n")
    assert any(each.startswith("BUILDING") for each in met), "the kills must have hit something"

"""The process that loads the code once, and what is forked from it."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from crowdrag.runtime import environment, preloader
from crowdrag.runtime.data_folder import DataFolder
from crowdrag.runtime.preloader import Preloader
from crowdrag.runtime.processes import AdoptedProcess, Reaper
from crowdrag.runtime.service_monitor import Launch, Service, ServiceMonitor
from tests.runtime.conftest import eventually

pytestmark = pytest.mark.skipif(not Preloader.is_possible(), reason="this system cannot adopt processes")

# It says what it was given, then waits to be ended.
PROGRAM = """
import os, sys, time
print(sys.argv[1:], os.environ["GIVEN"], os.getsid(0) == os.getpid(), "PATH" in os.environ, flush=True)
time.sleep(60)
"""


class Program(Service):
    """A module that is started as CrowdRAG's services are."""

    name = title = "program"

    def launch(self) -> Launch:
        return Launch([sys.executable, "-m", "program", "a", "b"], {"GIVEN": "this"}, is_preloaded=True)

    def probe(self) -> str:
        if not self.log.read_text():
            raise ConnectionError
        return ""


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    found = DataFolder(tmp_path / "var")
    found.create()
    return found


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    found = Reaper()
    yield found
    found.close()
    preloader._prctl(preloader.PR_SET_CHILD_SUBREAPER, 0)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.fixture
def loaded(folder: DataFolder, reaper: Reaper, program: None) -> Iterator[Preloader]:
    found = Preloader(folder, environment.child_environment(folder), reaper)
    eventually(found.check)
    yield found
    found.close()


def monitor_of(folder: DataFolder, reaper: Reaper, loaded: Preloader | None) -> ServiceMonitor:
    found = ServiceMonitor(Program(folder), reaper, lambda _: None, preloader=loaded)
    found.start()
    eventually(lambda: found.step() or found.is_ready)
    return found


@pytest.mark.extended
def test_a_forked_service_is_a_child_as_any_other(folder: DataFolder, reaper: Reaper, loaded: Preloader) -> None:
    said = []
    for used in (loaded, None):
        monitor = monitor_of(folder, reaper, used)
        assert monitor.process is not None
        assert isinstance(monitor.process, AdoptedProcess) is (used is not None)
        seen = psutil.Process(monitor.process.pid)
        assert (seen.ppid(), os.getpgid(seen.pid)) == (os.getpid(), seen.pid)
        said.append(monitor.service.log.read_text().splitlines()[-1])
        monitor.ask_to_stop()
        assert eventually(lambda process=monitor.process: process.poll()) == -signal.SIGTERM
        assert not psutil.pid_exists(seen.pid)
        monitor.remove()
    assert said[0] == said[1] == "['a', 'b'] this True True"


@pytest.mark.extended
def test_a_killed_preloader_is_replaced_and_takes_nobody_along(
    folder: DataFolder, reaper: Reaper, loaded: Preloader
) -> None:
    monitor = monitor_of(folder, reaper, loaded)
    before = loaded.process.pid
    loaded.process.kill()
    loaded.process.wait()
    other = monitor_of(folder, reaper, loaded)
    assert isinstance(other.process, subprocess.Popen), "the next preloader has loaded nothing yet"
    assert monitor.process is not None
    assert monitor.process.poll() is None
    eventually(loaded.check)
    assert loaded.process.pid != before
    for each in (monitor, other):
        each.remove()


def test_without_a_preloader_that_can_load_services_start_all_the_same(
    folder: DataFolder, reaper: Reaper, program: None
) -> None:
    env = environment.child_environment(folder) | {"DJANGO_SETTINGS_MODULE": "not.there"}
    broken = Preloader(folder, env, reaper)
    eventually(lambda: not broken.is_loading)
    assert not broken.check()
    first = broken.process.pid
    monitor_of(folder, reaper, broken).remove()
    assert broken.process.pid == first, "it is not tried again and again"
    broken.close()


MOVES = """
import os, sys
from crowdrag.runtime.preloader import _take_over
wanted = [int(each) for each in sys.argv[1:]]
received = [os.open(os.devnull, os.O_WRONLY)] + [os.memfd_create(str(number)) for number in wanted]
for number, fd in zip(wanted, received[1:]):
    os.write(fd, str(number).encode())
try:
    _take_over(received, wanted)
    found = [int(os.pread(number, 9, 0)) for number in wanted]
except BaseException:
    os._exit(2)
os._exit(found != wanted)
"""


@pytest.mark.parametrize("wanted", [[7], *itertools.permutations([3, 4, 5, 9], 2)])
def test_descriptors_have_the_numbers_that_the_command_names(wanted: list[int]) -> None:
    done = subprocess.run([sys.executable, "-c", MOVES, *map(str, wanted)], check=False)
    assert done.returncode == 0

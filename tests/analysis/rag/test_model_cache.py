"""Models that stay loaded, and one job a device."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from analysis.rag.generation import model_cache
from analysis.rag.generation.devices import ModelMemoryError
from analysis.rag.generation.model_cache import ModelCache, one_job
from tests.analysis.rag.neural import torch

HOLDING = """
import sys, time
from types import SimpleNamespace
from analysis.rag.generation import model_cache
model_cache._mark = lambda _device: sys.argv[1]
with model_cache.one_job(SimpleNamespace(type="cuda")):
    print("held", flush=True)
    time.sleep(60)
"""


def model(size):
    return SimpleNamespace(bytes=size)


def loading(made, name, size=4):
    return lambda: (made.append(name), model(size))[1]


def test_a_model_is_loaded_once():
    held, made = ModelCache(room=10), []
    first = held.take("a", loading(made, "a"))
    assert held.take("a", loading(made, "a")) is first
    assert made == ["a"]


def test_what_fits_stays_and_what_was_used_longest_ago_makes_room():
    held, made = ModelCache(room=10), []
    for name in ("a", "b", "a", "c"):
        held.take(name, loading(made, name), size=4)
    assert made == ["a", "b", "c"]
    assert held.held() == ["a", "c"]


@pytest.mark.extended
def test_a_model_larger_than_the_room_is_held_alone():
    held, made = ModelCache(room=10), []
    held.take("a", loading(made, "a"))
    held.take("large", loading(made, "large", size=50))  # its files did not say so
    assert held.held() == ["large"]
    held.take("larger", loading(made, "larger", size=99), size=99)
    assert held.held() == ["larger"]
    held.clear()
    assert held.held() == []


def test_where_memory_is_short_while_loading_the_others_go():
    held, tries = ModelCache(room=100), []
    held.take("a", loading([], "a"))

    def load():
        tries.append(held.held())
        if len(tries) == 1:
            raise torch.OutOfMemoryError("out of memory")
        return model(4)

    held.take("b", load)
    assert tries == [["a"], []]
    assert held.held() == ["b"]


@pytest.mark.extended
def test_a_model_that_does_not_fit_alone_is_an_error_and_any_other_goes_on():
    def load(error):
        raise error

    with pytest.raises(ModelMemoryError, match="huge"):
        ModelCache(room=1).take("huge", lambda: load(MemoryError("no")))
    with pytest.raises(RuntimeError, match="corrupt"):
        ModelCache(room=1).take("broken", lambda: load(RuntimeError("corrupt")))


@pytest.fixture
def device(monkeypatch, tmp_path):
    """A device of a name of its own: the lock is one of the whole machine."""
    name = f"test-{os.getpid()}-{tmp_path.name}"
    monkeypatch.setattr(model_cache, "_mark", lambda _device: name)
    return SimpleNamespace(type="cuda", name=name)


class Tired(Exception):  # noqa: N818 - what a cancelled run raises
    pass


def tired():
    raise Tired


def test_a_device_has_one_job_and_is_free_when_its_process_is_killed(device):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, device.name], stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    try:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(Tired), one_job(device, check=tired):
            pytest.fail("two jobs")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    with one_job(device, check=tired), one_job(device, check=tired):  # a job may use a second model
        pass
    with one_job(device, check=tired):
        pass


def test_the_cpu_is_nobodys():
    with one_job(torch.device("cpu")), one_job(torch.device("cpu")):
        pass

"""Models that stay loaded between the units of a worker, and one job at a time on a device.

A worker's process holds what it last used, as far as it fits: a generator, an entailment model and a reranker of one
experiment stay together, and the model of the next experiment takes the place of what was used longest ago.
"""

from __future__ import annotations

import fcntl
import gc
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import checkpoints
from . import devices
from .devices import ModelMemoryError

#: The part of a device's memory that models may hold: the rest is for what they work on.
HELD = 0.6
#: How often at least it is looked whether a device has become free, in seconds.
LOOK = 0.2


class ModelCache:
    """Loaded models by key, the one used last at the end; for one process.

    Parameters
    ----------
    room : int, optional
        How many bytes of weights are held together; by default a part of the device's memory. A model that is larger
        than that is held alone.
    """

    def __init__(self, room: int | None = None) -> None:
        self._room = room
        self._models: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.RLock()

    def take(self, key: Hashable, load: Callable[[], Any], *, size: int = 0) -> Any:
        """Return a model that is held, or load it, and give up others for it.

        Parameters
        ----------
        key : hashable
            What makes the model what it is: name and options.
        load : callable() -> model
        size : int
            About how many bytes it will take, its files' say: room is made before it is loaded.

        Raises
        ------
        ModelMemoryError
            If it does not fit even alone. What `load` raises goes on.
        """
        with self._lock:
            if key in self._models:
                self._models.move_to_end(key)
                return self._models[key][0]
            self._give_up(size)
            try:
                model = self._loaded(key, load)
            except BaseException:
                gc.collect()
                raise
            self._models[key] = model, max(size, _bytes(model))
            self._give_up(0)  # it may be larger than its files
            return model

    def held(self) -> list[Hashable]:
        """Keys of what is held, the one used last at the end."""
        return list(self._models)

    def clear(self) -> None:
        """Give up all."""
        with self._lock:
            if self._models:
                self._models.clear()
                _free()

    def _loaded(self, key: Hashable, load: Callable[[], Any]) -> Any:
        """Load; where memory is short, once more without the others."""
        model, problem = _try(load)
        if problem and self._models:
            self.clear()
            model, problem = _try(load)
        if problem:
            raise ModelMemoryError(f"{key} does not fit into the memory of its device: {problem}")
        return model

    def _give_up(self, size: int) -> None:
        """Give up the models used longest ago until this much more fits; the last one stays unless it is in the way."""
        room = _room() if self._room is None else self._room
        has_removed = False
        while self._models and sum(model_size for _model, model_size in self._models.values()) + size > room:
            if not size and len(self._models) == 1:
                break
            self._models.popitem(last=False)
            has_removed = True
        if has_removed:
            _free()


#: What this process holds.
MODELS = ModelCache()
_OWN = threading.local()


def look() -> None:
    """Call what this thread was told to look at while it waits and works; it may raise to stop that."""
    check: Callable[[], None] | None = _OWN.__dict__.get("check")
    if check is not None:
        check()


@contextmanager
def looking(check: Callable[[], None]) -> Iterator[None]:
    """Have whatever this thread waits for look whether to go on: a cancelled run waits for nobody's device."""
    before = _OWN.__dict__.get("check")
    _OWN.check = check
    try:
        yield
    finally:
        _OWN.check = before


@contextmanager
def one_job(device: Any, *, check: Callable[[], None] = look) -> Iterator[None]:
    """Hold a CUDA device for one job: others that want it wait, in whatever process of this machine they are.

    A file is locked, which the system unlocks when the process ends, however it ends. On the CPU nothing is held.

    Parameters
    ----------
    device : torch.device
    check : callable()
        Called while waiting; it may raise to stop that. By default what the thread was told to look at.
    """
    if getattr(device, "type", "cpu") != "cuda":
        yield
        return
    mark = _mark(device)
    if mark in _devices_in_use():
        yield
        return
    descriptor = _opened(Path(tempfile.gettempdir()) / f"crowdrag-device-{mark}.lock")
    try:
        waiting = threading.Event()
        while not _locked(descriptor):
            check()
            waiting.wait(LOOK)
        _devices_in_use().add(mark)
        yield
    finally:
        _devices_in_use().discard(mark)
        os.close(descriptor)


def _devices_in_use() -> set[str]:
    """Devices that this thread holds already: a job may use a second model."""
    devices: set[str] = _OWN.__dict__.setdefault("devices", set())
    return devices


def _opened(path: Path) -> int:
    """Open the file to lock, which may be another user's: it is only read, and no link is followed."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        return os.open(path, flags | os.O_CREAT, 0o644)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _mark(device: Any) -> str:
    """What tells a device from the others of its machine: two processes may number them differently."""
    import torch

    return str(getattr(torch.cuda.get_device_properties(device), "uuid", None) or device.index or 0)


def _try(load: Callable[[], Any]) -> tuple[Any, str]:
    """Load; why the memory did not suffice, as words: the error itself would hold on to what was taken."""
    import torch

    try:
        return load(), ""
    except (RuntimeError, MemoryError) as error:
        if not devices.is_memory_short(torch, error):
            raise
        return None, str(error)


def _bytes(model: Any) -> int:
    return int(getattr(model, "bytes", 0))


def _free() -> None:
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _room() -> int:
    try:
        import torch
    except ImportError as error:
        raise checkpoints.missing_parts() from error
    if torch.cuda.is_available():
        return int(torch.cuda.get_device_properties(0).total_memory * HELD)
    return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * HELD)

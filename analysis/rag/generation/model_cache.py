"""A cache of loaded models between the work units of a worker, and a lock for one job per device.

A worker's process keeps recently used models as far as they fit. The generator, entailment model and reranker of one
experiment stay loaded together. The models of the next experiment replace those used least recently.
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

#: The share of a device's memory that loaded models may take: the rest is for computation.
HELD = 0.6
#: The longest interval between checks whether a device is free, in seconds.
LOOK = 0.2


class ModelCache:
    """Loaded models by key in one process, the most recently used last.

    Parameters
    ----------
    room : int, optional
        Maximum size of loaded weights in bytes; by default a share of the device's memory. A larger model is kept as
        the only one.
    """

    def __init__(self, room: int | None = None) -> None:
        self._room = room
        self._models: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.RLock()

    def take(self, key: Hashable, load: Callable[[], Any], *, size: int = 0) -> Any:
        """Return a cached model, or load it and remove others to make room.

        Parameters
        ----------
        key : hashable
            Identifies the model: name and options.
        load : callable() -> model
        size : int
            Approximate size in bytes, according to its files: room is made before loading.

        Raises
        ------
        ModelMemoryError
            If it does not fit even as the only model. Errors of `load` are passed on.
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
        """Return the keys of all cached models, the most recently used last."""
        return list(self._models)

    def clear(self) -> None:
        """Remove all models."""
        with self._lock:
            if self._models:
                self._models.clear()
                _free()

    def _loaded(self, key: Hashable, load: Callable[[], Any]) -> Any:
        """Load a model; if memory is short, remove all others and try again."""
        model, problem = _try(load)
        if problem and self._models:
            self.clear()
            model, problem = _try(load)
        if problem:
            raise ModelMemoryError(f"{key} does not fit into the memory of its device: {problem}")
        return model

    def _give_up(self, size: int) -> None:
        """Remove the least recently used models until this size fits; keep the last one unless it prevents that."""
        room = _room() if self._room is None else self._room
        has_removed = False
        while self._models and sum(model_size for _model, model_size in self._models.values()) + size > room:
            if not size and len(self._models) == 1:
                break
            self._models.popitem(last=False)
            has_removed = True
        if has_removed:
            _free()


#: The cache of this process.
MODELS = ModelCache()
_OWN = threading.local()


def look() -> None:
    """Call the check that this thread was given with `looking`; it may raise to stop waiting and work."""
    check: Callable[[], None] | None = _OWN.__dict__.get("check")
    if check is not None:
        check()


@contextmanager
def looking(check: Callable[[], None]) -> Iterator[None]:
    """Set the check that this thread calls while it waits and works: it lets a cancelled run stop waiting."""
    before = _OWN.__dict__.get("check")
    _OWN.check = check
    try:
        yield
    finally:
        _OWN.check = before


@contextmanager
def one_job(device: Any, *, check: Callable[[], None] = look) -> Iterator[None]:
    """Lock a CUDA device for one job: other jobs wait, in any process of this machine.

    The lock is on a file, which the system unlocks when the process ends for any reason. The CPU is not locked.

    Parameters
    ----------
    device : torch.device
    check : callable()
        Called while waiting; it may raise to stop waiting. By default the check that the thread was given.
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
    """Return the devices that this thread has locked already: a job may use a second model."""
    devices: set[str] = _OWN.__dict__.setdefault("devices", set())
    return devices


def _opened(path: Path) -> int:
    """Open the file to lock. It may belong to another user, so it is opened read-only and links are not followed."""
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
    """Return an identifier of the device that is the same in all processes, which may number devices differently."""
    import torch

    return str(getattr(torch.cuda.get_device_properties(device), "uuid", None) or device.index or 0)


def _try(load: Callable[[], Any]) -> tuple[Any, str]:
    """Load a model. Return a memory error as text, since the error itself would keep the memory allocated."""
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

"""Who wants to know that a run has ended: apps above register here, so that long work need not know them.

Listeners are called in the transaction that ends the run, with its row held: they write to the database and are quick,
and what they write is kept if, and only if, the run has ended. A run that is resumed ends again.
"""

from collections.abc import Callable
from datetime import datetime

from .models import Run

# Gets the run in the state in which it ended, and when that was.
Listener = Callable[[Run, datetime], object]

_listeners: list[Listener] = []


def register(listener: Listener) -> Listener:
    """Add who is told of each run that has ended; called once from an app's `ready`."""
    if listener not in _listeners:
        _listeners.append(listener)
    return listener


def ended(run: Run, at: datetime) -> None:
    """Tell all who want to know."""
    for listener in _listeners:
        listener(run, at)

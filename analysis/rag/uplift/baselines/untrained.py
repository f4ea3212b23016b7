"""What methods share that learn nothing."""

from __future__ import annotations

from pathlib import Path

from .asking import Answering
from .protocol import Settings, Training


class Untrained(Answering):
    """A method with nothing to learn and nothing to keep. What answers is the subclass's."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    def fit(self, training: Training) -> None:
        """Nothing is learnt: an empty training split is as good as any."""

    def save(self, folder: Path) -> None:
        """Nothing is written."""

    def load(self, folder: Path) -> None:
        """Nothing is read."""

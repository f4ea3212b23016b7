"""Neural libraries, imported where a test first uses them: that takes seconds, and every process collects all files."""

from functools import cache
from types import ModuleType
from typing import Any

import pytest


@cache
def imported(name: str) -> ModuleType:
    """Import a library; the test is skipped where it is not installed."""
    module: ModuleType = pytest.importorskip(name, reason="the extra `neural` is not installed")
    if name == "torch":
        # What several threads share of so small a model costs more than it saves, and the tests are several processes.
        module.set_num_threads(1)
    return module


class Later:
    """Stands for a library, which is imported when something of it is wanted."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):  # pytest asks what is in a file whether it is a test or a fixture
            raise AttributeError(name)
        return getattr(imported(self._name), name)


torch, transformers, bert_score, sentence_transformers = map(
    Later, ("torch", "transformers", "bert_score", "sentence_transformers")
)

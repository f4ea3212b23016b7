"""Examples in the docstrings of the pure packages do what they say."""

import doctest
import importlib
import pkgutil
from types import ModuleType

PURE = ("analysis.stats", "analysis.text", "analysis.writing_process", "analysis.ranking")
#: What a reader meets first has an example.
SHOWN = (
    "analysis.stats.agreement", "analysis.stats.bootstrap", "analysis.stats.bradley_terry", "analysis.stats.labels",
    "analysis.stats.mace", "analysis.stats.judgments", "analysis.stats.planning", "analysis.stats.proportions",
    "analysis.stats.ranks", "analysis.stats.simulation", "analysis.text.statements",
)  # fmt: skip


def modules() -> list[str]:
    return [
        module.name
        for name in PURE
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}.")
    ]


def examples(module: ModuleType) -> list[doctest.DocTest]:
    return [each for each in doctest.DocTestFinder().find(module) if each.examples]


def test_examples_do_what_they_say():
    wrong = [name for name in modules() if doctest.testmod(importlib.import_module(name)).failed]
    assert not wrong


def test_what_a_reader_meets_first_has_an_example():
    assert [name for name in SHOWN if not examples(importlib.import_module(name))] == []

"""The examples in the docstrings say what really comes out."""

import doctest
import importlib
import pkgutil

import pytest

import analysis.stats
import analysis.text

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (analysis.stats, analysis.text)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    found = [example for name in MODULES for example in doctest.DocTestFinder().find(importlib.import_module(name))]
    assert sum(bool(test.examples) for test in found) >= 3

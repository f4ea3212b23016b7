"""The promises of the chaos benchmark: each has a proof that is there, and the documentation lists them all."""

import re

import pytest

from bench.chaos.promises import PROMISES, Promise, table
from crowdrag.runtime.data_folder import REPOSITORY


def test_they_are_numbered_without_a_gap() -> None:
    assert [promise.number for promise in PROMISES] == list(range(1, 29))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: f"D{promise.number}")
def test_what_proves_a_promise_is_there(promise: Promise) -> None:
    assert bool(promise.proof) != bool(promise.why_not)
    names = promise.proof.split()
    if names[:1] == ["bench"]:
        assert all((REPOSITORY / "bench" / f"{name}.py").exists() for name in names[1:])
        return
    for name in names:
        path, _, test = name.partition("::")
        text = (REPOSITORY / "tests" / path).read_text()
        assert re.search(rf"^def {test or 'test_'}", text, re.MULTILINE), name


def test_the_documentation_lists_them() -> None:
    assert table() in (REPOSITORY / "docs" / "explanation" / "reliability.md").read_text()

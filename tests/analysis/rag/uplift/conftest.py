"""Tiny models are slowest where threads wait for each other."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch", reason="the extra `neural` is not installed")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

"""Tiny models are slowest where threads wait for each other."""

from collections.abc import Iterator

import pytest

from tests.analysis.rag.neural import torch


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

"""Golden outputs of the sample of CrowdRAG-25: its tables, and what its report says."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.golden import fixed, sample_study, store
from tests.golden.conftest import Check

DATA = os.environ.get("CROWDRAG_DATA", "")
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.extended,
    pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the sample of the corpus is not here"),
    pytest.mark.timeout(900),
]
PARTS = ["import", "tables", "report"]
Parts = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def parts(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """All outputs of the sample; nothing of it is left in the database."""
    folder = tmp_path_factory.mktemp("sample")
    with django_db_blocker.unblock(), fixed.world(folder):
        return sample_study.make(Path(DATA) / "crowdrag25", folder)


@pytest.mark.parametrize("part", PARTS)
def test_outputs_are_the_golden_ones(parts: Parts, check: Check, part: str) -> None:
    check("sample", part, parts[part])


def test_each_golden_file_belongs_to_a_part(parts: Parts) -> None:
    assert set(parts) == set(PARTS)
    assert {path.name for path in (store.EXPECTED / "sample").iterdir()} == set(PARTS)

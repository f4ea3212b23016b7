"""Golden outputs of the demo study."""

from typing import Any

import pytest

from tests.golden import demo_study, fixed, store
from tests.golden.conftest import Check

pytestmark = pytest.mark.django_db
PARTS = ["results", "export-archive", "export-crowdrag25", "release-1", "release-2", "pages"]
PDF = "report-pdf"
Parts = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def parts(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Parts:
    """All outputs of the demo study; nothing of it is left in the database."""
    folder = tmp_path_factory.mktemp("demo")
    with_pdf = any(f"[{PDF}]" in item.nodeid for item in request.session.items)
    with django_db_blocker.unblock(), fixed.world(folder):
        return demo_study.make(folder, with_pdf=with_pdf)


@pytest.mark.parametrize("part", [*PARTS, pytest.param(PDF, marks=pytest.mark.extended)])
def test_outputs_are_the_golden_ones(parts: Parts, check: Check, part: str) -> None:
    check("demo", part, parts[part])


def test_each_golden_file_belongs_to_a_part(parts: Parts) -> None:
    assert set(parts) | {PDF} == {*PARTS, PDF}
    assert {path.name for path in (store.EXPECTED / "demo").iterdir()} == {*PARTS, PDF}

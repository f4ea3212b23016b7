"""What a release holds: every table is what it says, of what people agreed to, as it was chosen."""

import pytest

from analysis.domain.releases.choices import Logs, Passages, Timing
from crowdrag.runs.models import Run

from ..whole_study import PLATFORM_ID, whole_study
from .reading import read

pytestmark = pytest.mark.django_db(transaction=True)
EVERYTHING = {
    "passages": Passages.TEXTS, "passage_terms": "CC0", "excluded": True, "comments": True, "tables": True,
    "timing": Timing.EXACT,
}  # fmt: skip


@pytest.mark.parametrize("logs", Logs)
def test_every_table_is_what_it_says(logs: Logs) -> None:
    study = whole_study()
    runs = tuple(str(key) for key in Run.objects.filter(study=study).values_list("key", flat=True))
    tables, layout, _left_out = read(study, logs=logs, runs=runs, **EVERYTHING)
    print({name: len(rows) for name, rows in tables.items()})
    print({name: len(rows) for name, rows in layout.items()}, _left_out)
    assert PLATFORM_ID not in repr((tables, layout))

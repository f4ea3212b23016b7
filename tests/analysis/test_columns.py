"""Columns read as bytes against the same rows as tuples."""

import numpy as np
import pytest

from analysis.domain.loading import columns
from annotation.models import Judgment
from tests.analysis import small_study

pytestmark = pytest.mark.django_db
FIELDS = {"row": "id", "coder": "assignment__participant_id", "value": "value"}


def test_columns_are_the_rows_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study.make()
    rows = Judgment.objects.of_study(study).counted()
    expected = sorted(rows.values_list(*FIELDS.values()))
    assert min(value for *_, value in expected) < 0
    for bits in (20, 2):  # one block, and many
        monkeypatch.setattr(columns, "BITS", bits)
        found = columns.read(rows, FIELDS)
        assert found.dtype == [(name, np.int64) for name in FIELDS]
        assert found.tolist() == expected


def test_no_rows_are_no_rows() -> None:
    study = small_study.make()
    for rows in (Judgment.objects.of_study(study).filter(value=77), Judgment.objects.filter(item__campaign__in=[])):
        assert columns.read(rows, FIELDS).shape == (0,)

"""What tests of the analysis share."""

import pytest
from django.db import transaction

from analysis.domain.corpus import consistent


@pytest.fixture
def one_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let exports and releases read in the transaction of the test: nobody else writes meanwhile."""
    monkeypatch.setattr(consistent, "reading", transaction.atomic)

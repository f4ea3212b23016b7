"""Dates and times have one format."""

from datetime import UTC, datetime

import pytest
from django.utils import formats, translation

AT = datetime(2026, 11, 7, 13, 48, tzinfo=UTC)


@pytest.mark.parametrize(("name", "shown"), [("DATE_FORMAT", "7 Nov 2026"), ("DATETIME_FORMAT", "7 Nov 2026, 13:48")])
def test_english_dates_are_short_and_times_have_24_hours(name: str, shown: str) -> None:
    with translation.override("en"):
        assert formats.date_format(AT, name) == shown

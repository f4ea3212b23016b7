"""Amounts, dates and headings as the language and the place of a page ask for."""

import re
from datetime import UTC, datetime

import pytest
from django.utils import translation
from django.utils.formats import date_format

from crowdrag.ui import markdown
from crowdrag.ui.templatetags import ui


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", "USD 1,234.50"), ("de", "1.234,50 USD"), ("fr", "1 234,50 USD"), ("es", "1 234,50 USD")],
)
def test_an_amount_is_written_as_in_the_language_of_the_page(language: str, expected: str) -> None:
    with translation.override(language):
        assert re.sub(r"\s", " ", str(ui.money(123450, "USD"))) == expected
        assert str(ui.money(-5, "USD")).count(ui.MINUS) == 1


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", "30 Nov 2026, 14:09"), ("de", "30. November 2026, 14:09"), ("fr", "30 novembre 2026 à 14:09")],
)
def test_a_time_has_24_hours(language: str, expected: str) -> None:
    with translation.override(language):
        assert date_format(datetime(2026, 11, 30, 14, 9, tzinfo=UTC), "DATETIME_FORMAT") == expected


def test_the_highest_heading_of_a_text_follows_the_page_s() -> None:
    def levels(text: str, top: int | None = None) -> list[str]:
        return re.findall(r"<h(\d)>", markdown.render(text, top=top))

    assert levels("## One\n\n### Two") == ["3", "4"]
    assert levels("## One\n\n### Two", top=2) == ["2", "3"]
    assert levels("# One\n\n##### Two", top=2) == ["2", "6"]
    assert levels("No heading", top=2) == []

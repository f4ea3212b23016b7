"""One language a page: all its own words are English, whatever a browser asks for, and what people wrote is marked."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.studies.activity import door, knock, offered_study, open_link

pytestmark = pytest.mark.django_db
GERMAN = {"Accept-Language": "de-DE,de;q=0.9"}
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"')


def without_tokens(page: bytes) -> str:
    return TOKEN.sub("", page.decode())


def test_a_german_browser_gets_the_same_page_and_the_same_form_errors(client: Client) -> None:
    for headers in (GERMAN, {"Accept-Language": "en"}):
        page = client.get(reverse("login"), headers=headers)
        assert '<html lang="en"' in page.content.decode()
        assert "Accept-Language" not in page.headers.get("Vary", "")
    german, english = (
        without_tokens(client.post(reverse("withdraw"), {"key": ""}, headers=headers).content)
        for headers in (GERMAN, {"Accept-Language": "en"})
    )
    assert german == english


def test_what_a_study_wrote_is_marked_with_its_language(client: Client) -> None:
    study = offered_study(language="de", contact="gruppe@example.org", researchers="Die Lesegruppe")
    page = knock(client, door(open_link(study)))
    source = client.get(page["Location"]).content.decode()
    assert '<html lang="en"' in source
    assert re.search(r'<div class="prose" lang="de" dir="auto">\s*<h\d>What we record', source)
    assert '<dd lang="de" dir="auto">Die Lesegruppe</dd>' in source
    assert '<dl class="facts">' in source

"""Who may come in with which device: as the terms on the platform say, before anything is agreed or recorded."""

from typing import Any

import pytest
from django.test import Client

from crowdrag.recruitment import completion_codes, platform_studies
from crowdrag.studies.models import Arrival, Participant
from tests.factories import NOW
from tests.recruitment.conftest import TERMS
from tests.studies.activity import door, offered_study, platform_link
from tests.studies.entry.test_enrolment import IPHONE, MAC

pytestmark = pytest.mark.django_db


def prepared(*, devices: list[str]) -> Any:
    terms = platform_studies.Terms(**{**TERMS.__dict__, "devices": devices})
    return platform_studies.prepare_draft(study=offered_study(), purpose="writing", terms=terms, by=None, now=NOW)


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_study_for_desktops_returns_the_place_of_a_phone(client: Client, method: str) -> None:
    made = prepared(devices=["desktop"])
    page = getattr(client, method)(door(made.link), headers={"User-Agent": IPHONE})
    assert page.status_code == 403
    source = page.content.decode()
    code = made.codes[completion_codes.BAD_DEVICE]
    assert f'href="{completion_codes.RETURN_TO}?cc={code}"' in source
    assert f'<code class="mono completion-code">{code}</code>' in source
    assert not {made.codes[kind] for kind in made.codes if kind != completion_codes.BAD_DEVICE} & set(source.split())
    assert "<form" not in source
    assert (Participant.objects.count(), Arrival.objects.count()) == (0, 0)
    assert client.get(door(made.link), headers={"User-Agent": MAC}).status_code == 200


def test_any_device_comes_in_where_the_terms_say_so_or_there_are_none(client: Client) -> None:
    for link in (prepared(devices=["desktop", "mobile"]).link, platform_link(offered_study())):
        assert client.get(door(link), headers={"User-Agent": IPHONE}).status_code == 200

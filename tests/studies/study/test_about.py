"""Who asks, whom to turn to, how one is paid, how long it is kept: said before anybody agrees."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.studies.activities import undisclosed
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory
from tests.studies.activity import door, knock, offered_study, open_link
from writing.plans import services

pytestmark = pytest.mark.django_db

SAID = {
    "researchers": "The reading group <b>of</b> a university",
    "contact": "group@example.org",
    "payment": "By bank transfer within a week.",
    "retention": "Ten years.",
}


def test_an_owner_says_who_asks_and_nothing_else_changes(client: Client) -> None:
    owner = MembershipFactory(role=Role.OWNER, study__currency="EUR")
    client.force_login(owner.user)
    before = Study.objects.values().get(pk=owner.study.pk)
    address = reverse("study_about", args=[owner.study.slug])
    assert client.post(address, {"title": ""}).status_code == 422
    assert Study.objects.values().get(pk=owner.study.pk) == before
    answer = client.post(address, {"title": "Tides", "description": "", "currency": "USD", **SAID})
    assert answer["Location"] == reverse("study", args=[owner.study.slug])
    assert Study.objects.values().get(pk=owner.study.pk) == {**before, "title": "Tides", "description": "", **SAID}
    assert SAID["researchers"] not in client.get(address).content.decode()  # escaped
    assert "of&lt;/b&gt;" in client.get(address).content.decode()


def test_people_read_it_before_they_agree_and_where_they_ask(client: Client) -> None:
    study = offered_study(**SAID)
    address = door(open_link(study))
    for page in (client.get(address), knock(client, address)):
        if page.status_code == 302:
            page = client.get(page["Location"])
        said = page.content.decode()
        assert "The reading group &lt;b&gt;of&lt;/b&gt; a university" in said
        assert "Ten years." in said
        assert "within a week" in said
        assert "group@example.org" in said


@pytest.mark.parametrize("left_out", [None, *SAID])
def test_what_is_not_said_is_a_warning_before_people_come(left_out: str | None) -> None:
    said: dict[str, Any] = SAID | ({left_out: ""} if left_out else {})
    study = StudyFactory(**said)
    found = undisclosed(study)
    assert len(found) == (1 if left_out else 0)
    plan = offered_study(**said).writing_plan  # type: ignore[attr-defined]
    assert set(found) <= set(services.readiness(plan).warnings)

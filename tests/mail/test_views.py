"""A participant's address, and the link that stops emails."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.mail import services
from crowdrag.mail.models import MailAddress
from crowdrag.studies.models import Participant
from tests.factories import ParticipantFactory
from tests.mail.conftest import ADDRESS, wants_mail
from tests.participants import as_participant
from tests.studies.activity import offered_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(client: Client) -> Participant:
    made = ParticipantFactory(study=offered_study())
    as_participant(client, made)
    return made


def test_an_address_is_given_shown_and_removed(client: Client, person: Participant) -> None:
    page, dashboard = (reverse(name, args=[person.study.slug]) for name in ("mail_address", "participant_dashboard"))
    assert page in client.get(dashboard).content.decode()
    assert client.post(page, {"address": "no address"}).status_code == 422
    assert client.post(page, {"address": ADDRESS}).status_code == 302
    assert services.own_address(person) == ADDRESS
    assert MailAddress.objects.get().base == "http://testserver/"
    assert ADDRESS in client.get(dashboard).content.decode()
    client.post(reverse("mail_address_remove", args=[person.study.slug]))
    assert services.own_address(person) == ""


def test_nobody_is_asked_where_no_emails_are_sent(client: Client, person: Participant, settings: Any) -> None:
    settings.SENDS_MAIL = False
    page = reverse("mail_address", args=[person.study.slug])
    assert page not in client.get(reverse("participant_dashboard", args=[person.study.slug])).content.decode()
    assert client.get(page).status_code == 404


def test_the_link_stops_emails_of_one_study_when_it_is_pressed_and_not_when_it_is_read(person: Participant) -> None:
    wants_mail(person)
    other = wants_mail(ParticipantFactory())
    scanner = Client(enforce_csrf_checks=True)
    page = reverse("mail_stop", args=[MailAddress.objects.get(participant=person).key])
    assert scanner.get(page).status_code == 200
    assert services.own_address(person) == ADDRESS
    for _ in range(2):
        assert scanner.post(page, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert services.own_address(person) == ""
    assert services.own_address(other) == ADDRESS

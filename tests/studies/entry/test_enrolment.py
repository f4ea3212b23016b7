"""Coming in by a link: what is said first, who gets in, and that it is the same person however they knock."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crowdrag.studies.access import SESSION_PARTICIPANTS
from crowdrag.studies.entry import enrolment, links
from crowdrag.studies.enums import Device, EntryKind
from crowdrag.studies.models import Arrival, EntryLink, Participant
from crowdrag.studies.participants import identity, withdrawal
from tests.concurrency import together
from tests.factories import ParticipantFactory
from tests.participants import as_participant
from tests.studies.activity import (
    PERSON,
    WAY,
    agree,
    door,
    knock,
    offered_study,
    open_link,
    personal_link,
    platform_link,
    text_of,
)

pytestmark = pytest.mark.django_db


# What is said before anything else, and that looking changes nothing


@pytest.mark.parametrize("kind", EntryKind.values)
def test_the_page_says_what_it_pays_before_anything_is_written(client: Client, kind: str) -> None:
    study = offered_study(title="Tides")
    address = {
        EntryKind.OPEN: lambda: door(open_link(study)),
        EntryKind.PLATFORM: lambda: door(platform_link(study)),
        EntryKind.PERSONAL: lambda: reverse("join", args=[personal_link(study).key]),
    }[EntryKind(kind)]()
    people = Participant.objects.count()
    with CaptureQueriesContext(connection) as queries:
        page = client.get(address)
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []
    source = page.content.decode()
    assert [each for each in ("Tides", "25", "12.50", "30.00") if each not in source] == []
    assert (Participant.objects.count(), Arrival.objects.count()) == (people, 0)
    assert settings.SESSION_COOKIE_NAME not in client.cookies
    assert "no-store" in page["Cache-Control"]
    assert page["Referrer-Policy"] == "same-origin"


MOZILLA, APPLE = "Mozilla/5.0", "AppleWebKit/605.1.15 (KHTML, like Gecko)"
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0"
IPHONE = f"{MOZILLA} (iPhone; CPU iPhone OS 18_0 like Mac OS X) {APPLE} Version/18.0 Mobile/15E148 Safari/604.1"
PIXEL = f"{MOZILLA} (Linux; Android 10; K) {CHROME} Mobile Safari/537.36"
GALAXY_TAB = f"{MOZILLA} (Linux; Android 10; K) {CHROME} Safari/537.36"
IPAD = f"{MOZILLA} (iPad; CPU OS 12_5 like Mac OS X) {APPLE} Mobile/15E148 Safari/604.1"
MAC = f"{MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) {APPLE} Version/18.0 Safari/605.1.15"


@pytest.mark.parametrize(
    ("headers", "device"),
    [
        ({"User-Agent": IPHONE}, Device.MOBILE),
        ({"User-Agent": PIXEL, "Sec-CH-UA-Mobile": "?1"}, Device.MOBILE),
        ({"User-Agent": GALAXY_TAB}, Device.TABLET),
        ({"User-Agent": IPAD}, Device.TABLET),
        ({"User-Agent": MAC, "Sec-CH-UA-Mobile": "?0"}, Device.DESKTOP),
        ({"User-Agent": MAC, "Sec-CH-UA-Mobile": "?1"}, Device.MOBILE),
        ({}, Device.DESKTOP),
    ],
)
def test_a_device_is_told_by_its_headers(headers: dict[str, str], device: Device) -> None:
    assert enrolment.device_of(headers) == device


def test_entering_leads_to_consent_and_again_to_the_own_page(client: Client) -> None:
    study = offered_study()
    address = door(platform_link(study))
    answer = knock(client, address)
    assert answer["Location"] == f"{reverse('participant_consent', args=[study.slug])}?way={WAY}"
    agree(Participant.objects.get(), text_of(study))
    assert knock(client, address)["Location"] == reverse("participant_dashboard", args=[study.slug])


def test_the_own_key_on_another_device_is_no_first_visit(client: Client) -> None:
    study = offered_study()
    made = personal_link(study)
    address = reverse("join", args=[made.key])
    assert not client.get(address).context["comes_back"]
    agree(made.link.participant, text_of(study))  # type: ignore[arg-type]
    type(study.writing_plan).objects.update(is_open=False)  # type: ignore[attr-defined]
    assert client.get(address).context["comes_back"]
    assert not Arrival.objects.exists(), "opening it redeems nothing"
    assert knock(client, address)["Location"] == reverse("participant_dashboard", args=[study.slug])
    withdrawal.withdraw(participant=made.link.participant, now=timezone.now())  # type: ignore[arg-type]
    assert client.get(address).context["has_left"], "they are not told to continue"


# Who it is


def test_a_platforms_person_is_kept_under_a_pseudonym(client: Client) -> None:
    study = offered_study()
    link = platform_link(study)
    knock(client, door(link))
    person = Participant.objects.get()
    assert PERSON not in person.external_id
    assert identity.decrypt(person.identity) == f"prolific:{PERSON}"
    assert bytes(person.identity_hash) == identity.identity_hash(f"prolific:{PERSON}")
    arrival = Arrival.objects.get()
    assert (arrival.platform_study, arrival.session, arrival.participant) == ("s1", "t1", person)


def test_pseudonyms_of_two_studies_cannot_be_joined(client: Client) -> None:
    for study in (offered_study(), offered_study()):
        knock(client, door(platform_link(study)))
    first, second = Participant.objects.order_by("pk")
    assert first.external_id != second.external_id
    # In here, with the key, the person is found again: whoever may not take part twice is known.
    assert first.identity_hash == second.identity_hash
    # Two platforms may use the same id for two people.
    knock(Client(), door(platform_link(first.study, platform="mturk")))
    assert Participant.objects.count() == 3


def test_coming_again_is_the_same_participant_and_the_same_arrival() -> None:
    study = offered_study()
    link = platform_link(study)
    for _ in range(3):
        knock(Client(), door(link))
    assert Participant.objects.count() == Arrival.objects.count() == 1
    arrival = Arrival.objects.get()
    assert arrival.last_at > arrival.arrived_at


def test_an_open_link_makes_one_person_a_page_however_often_it_is_sent() -> None:
    study = offered_study()
    address = door(open_link(study))
    client, other = Client(), Client()
    page = client.get(address)
    for _ in range(2):
        Client().post(address, {"visit": page.context["visit"]})
    assert Participant.objects.count() == 1
    assert Participant.objects.get().identity is None
    knock(other, address)
    assert Participant.objects.count() == 2
    # A browser that is known goes on as who it is.
    knock(other, address)
    assert Participant.objects.count() == 2


def test_an_open_links_page_is_good_for_a_day_and_not_to_be_made_up(client: Client, monkeypatch: Any) -> None:
    address = door(open_link(offered_study()))
    visit = client.get(address).context["visit"]
    monkeypatch.setattr(enrolment, "VISIT_SECONDS", -1)
    for sent in ({"visit": "made:up"}, {}, {"visit": visit}):
        assert client.post(address, sent).status_code == 409
    assert Participant.objects.count() == 0


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", [EntryKind.PLATFORM, EntryKind.OPEN])
def test_ten_at_once_are_one_person(kind: str) -> None:
    study = offered_study()
    address = door(platform_link(study) if kind == EntryKind.PLATFORM else open_link(study))
    visit = Client().get(address).context["visit"]
    assert together([lambda: Client().post(address, {"visit": visit}).status_code] * 10) == [302] * 10
    assert (Participant.objects.count(), Arrival.objects.count()) == (1, 1)


# The session


def test_the_sessions_key_changes_when_somebody_enters(client: Client) -> None:
    client.get("/login/")
    session = client.session
    session["planted"] = "by an attacker"
    session.save()
    fixed = session.session_key
    client.cookies[settings.SESSION_COOKIE_NAME] = fixed
    study = offered_study()
    knock(client, door(platform_link(study)))
    assert client.session.session_key != fixed
    attacker = Client()
    attacker.cookies[settings.SESSION_COOKIE_NAME] = fixed
    assert attacker.get(reverse("participant_dashboard", args=[study.slug])).status_code == 403


def test_somebody_in_one_study_is_nobody_in_another(client: Client) -> None:
    mine, other = offered_study(), offered_study()
    as_participant(client, ParticipantFactory(study=mine))
    assert client.get(reverse("participant_dashboard", args=[mine.slug])).status_code == 200
    for name in ("participant_dashboard", "participant_consent", "participant_message_new", "participant_withdraw"):
        assert client.get(reverse(name, args=[other.slug])).status_code == 403
    # Nor does a session that names another study's participant help: the participant's own study counts.
    session = client.session
    session[SESSION_PARTICIPANTS] = {str(other.pk): next(iter(session[SESSION_PARTICIPANTS].values()))}
    session.save()
    assert client.get(reverse("participant_dashboard", args=[other.slug])).status_code == 403


def test_a_browser_forgets(client: Client) -> None:
    study = offered_study()
    knock(client, door(platform_link(study)))
    assert client.post(reverse("participant_sign_out", args=[study.slug]))["Location"] == reverse("participant_return")
    assert client.get(reverse("participant_dashboard", args=[study.slug])).status_code == 403


# Personal keys


def test_a_personal_link_is_kept_as_a_hash_and_read_forgivingly() -> None:
    made = personal_link(offered_study())
    assert len(made.key) * 5 >= 128
    link = EntryLink.objects.get()
    assert (link.token, bytes(link.token_hash)) == ("", links.hash_key(made.key))
    for given in (made.key, links.group_key(made.key).upper(), f"  http://testserver/join/{made.key}/ "):
        other = Client()
        assert other.post(reverse("participant_return"), {"key": given}).status_code == 302, given
        assert list(other.session[SESSION_PARTICIPANTS].values()) == [link.participant_id]


def test_unknown_and_revoked_keys_are_told_in_the_same_words(client: Client) -> None:
    made = personal_link(offered_study())
    links.close(link=made.link, now=timezone.now())
    shown = []
    for key in (made.key, links.make_key(), "x", "a" * 300):
        page = client.get(reverse("join", args=[key]))
        forms = [client.post(reverse(name), {"key": key}) for name in ("participant_return", "withdraw")]
        assert [page.status_code, *(form.status_code for form in forms)] == [404, 422, 422]
        title = page.content.decode().split("<h1>")[1].split("</h1>")[0]
        shown.append([title, *(str(form.context["form"].errors).replace(key, "") for form in forms)])
    assert shown == [shown[0]] * 4


def test_a_new_key_ends_the_earlier_ones(client: Client) -> None:
    study = offered_study()
    made = personal_link(study)
    knock(client, reverse("join", args=[made.key]))
    page = client.post(reverse("personal_link", args=[study.slug]))
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    key = links.read_key(page.context["address"])
    assert key
    assert page.context["code"] in page.content.decode()
    assert links.find(made.key) is None
    link = links.find_personal(key)
    assert link is not None
    assert link.participant == made.link.participant
    # It is shown this once: no page holds it again.
    assert key not in client.get(reverse("participant_dashboard", args=[study.slug])).content.decode()


# Doors that are shut


def test_a_closed_or_expired_link_lets_nobody_new_in_but_who_was_there_back() -> None:
    study = offered_study()
    now = timezone.now()
    for shut in ("closed", "expired", "pausing"):
        link = platform_link(study)
        knock(Client(), door(link, f"first{shut}"))
        if shut == "closed":
            links.close(link=link, now=now)
        elif shut == "expired":
            EntryLink.objects.filter(pk=link.pk).update(expires_at=now - timedelta(days=1))
        else:
            study.writing_plan.__class__.objects.update(is_open=False)
        for method in ("get", "post"):
            assert getattr(Client(), method)(door(link, f"second{shut}")).status_code == 410
        assert knock(Client(), door(link, f"first{shut}")).status_code == 302
    assert Participant.objects.count() == 3
    study.writing_plan.delete()
    assert Client().get(door(open_link(study))).status_code == 410


def test_an_invitation_that_was_taken_up_does_not_expire() -> None:
    study, hour = offered_study(), timedelta(hours=1)
    made = personal_link(study, expires_at=timezone.now() + hour)
    late = personal_link(study, expires_at=timezone.now() - hour)
    knock(Client(), reverse("join", args=[made.key]))
    EntryLink.objects.filter(pk=made.link.pk).update(expires_at=timezone.now() - hour)
    assert knock(Client(), reverse("join", args=[made.key])).status_code == 302
    assert Client().get(reverse("join", args=[late.key])).status_code == 410


NOT_WHOLE = {
    "": "PROLIFIC_PID",
    "?PROLIFIC_PID=": "PROLIFIC_PID",
    "?PROLIFIC_PID={{%25PROLIFIC_PID%25}}": "PROLIFIC_PID",
    "?PROLIFIC_PID=" + "a" * 201: "PROLIFIC_PID",
    "?PROLIFIC_PID=a%00b": "PROLIFIC_PID",
    "?PROLIFIC_PID=%3Cscript%3Ealert(1)%3C/script%3E": "PROLIFIC_PID",
    "?PROLIFIC_PID=a&SESSION_ID=%F0%9F%98%80": "SESSION_ID",
    "?prolific_pid=a": "PROLIFIC_PID",
}


def test_a_platforms_address_that_is_not_whole_names_the_parameter(client: Client) -> None:
    link = platform_link(offered_study())
    for query, name in NOT_WHOLE.items():
        for method in ("get", "post"):
            page = getattr(client, method)(reverse("join", args=[link.token]) + query)
            source = page.content.decode()
            assert (page.status_code, name in source, "<script>alert" in source) == (400, True, False), query
    assert Participant.objects.count() == 0

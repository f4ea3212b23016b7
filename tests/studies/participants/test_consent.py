"""Consent: asked before anything, per version, with the releases apart; declining leaves nothing behind."""

import json
from typing import Any

import pytest
from django.apps import apps
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from crowdrag.studies.access import SESSION_PARTICIPANTS, consented_page
from crowdrag.studies.entry import links
from crowdrag.studies.enums import EntryKind, Outcome
from crowdrag.studies.models import Consent, ConsentText, EntryLink, Participant
from crowdrag.studies.participants import consents, withdrawal
from tests.factories import ConsentTextFactory, ParticipantFactory, WritingTaskFactory
from tests.participants import as_participant
from tests.studies.activity import WAY, agree, door, knock, offered_study, personal_link, platform_link, text_of

pytestmark = pytest.mark.django_db

ALL = {"agrees": "on", "releases_text": "on", "releases_log": "on", "releases_timing": "on"}


@pytest.fixture
def study() -> Any:
    return offered_study()


@pytest.fixture
def person(study: Any, client: Client) -> Participant:
    made = ParticipantFactory(study=study)
    as_participant(client, made)
    return made


def page_of(study: Any) -> str:
    return f"{reverse('participant_consent', args=[study.slug])}?way={WAY}"


def next_version(text: ConsentText, words: str = "Changed.") -> ConsentText:
    fresh = ConsentTextFactory(study=text.study, name=text.name, version=text.version + 1, text=words)
    plan = text.study.writing_plan
    plan.consent_text = fresh
    plan.save()
    return fresh


@consented_page(WAY)
def the_work(request: HttpRequest, participant: Participant) -> HttpResponse:
    return JsonResponse({"participant": participant.pk})


def try_work(person: Participant, *, as_json: bool = False) -> HttpResponse:
    """Ask for a page behind consent, in a session that knows the person."""
    make = RequestFactory()
    request = make.post("/", "{}", content_type="application/json") if as_json else make.get("/")
    request.session = {SESSION_PARTICIPANTS: {str(person.study_id): person.pk}}  # type: ignore[assignment]
    return the_work(request, person.study.slug)  # type: ignore[return-value]


def test_the_page_shows_the_text_and_each_licence(client: Client, study: Any, person: Participant) -> None:
    page = client.get(page_of(study)).content.decode()
    assert "<h2>What we record</h2>" in page
    assert (page.count("CC-BY-4.0"), page.count("CC0-1.0"), 'name="decline"' in page) == (2, 1, True)


def test_a_text_cannot_carry_script(client: Client, study: Any, person: Participant) -> None:
    next_version(text_of(study), "<script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror=alert(1)>")
    main = client.get(page_of(study)).content.decode().split("<main")[1].split("</main>")[0]
    assert [each for each in ("<script", "<img", 'href="javascript') if each in main] == []


def test_agreeing_keeps_what_was_ticked_and_gives_a_key_once(client: Client, study: Any, person: Participant) -> None:
    page = client.post(page_of(study), {"agrees": "on", "releases_text": "on", "releases_timing": "on"})
    consent = Consent.objects.get()
    assert (consent.participant, consent.text) == (person, text_of(study))
    assert (consent.releases_text, consent.releases_log, consent.releases_timing) == (True, False, True)
    key = links.read_key(page.context["code"])
    assert key
    assert key in page.context["address"]
    assert "no-store" in page["Cache-Control"]
    link = links.find_personal(key)
    assert link is not None
    assert (link.participant, link.label, link.created_by) == (person, "", None)
    # Changing one's mind about a release: the same consent, no second key.
    again = client.post(page_of(study), ALL)
    assert again["Location"] == reverse("writing_start", args=[study.slug])
    assert Consent.objects.get().releases_log
    assert EntryLink.objects.count() == 1
    # The key opens the door elsewhere.
    other = Client()
    knock(other, reverse("join", args=[key]))
    assert other.get(reverse("participant_dashboard", args=[study.slug])).status_code == 200


def test_who_was_invited_has_a_key_already(client: Client, study: Any) -> None:
    knock(client, reverse("join", args=[personal_link(study).key]))
    assert client.post(page_of(study), ALL).status_code == 302
    assert EntryLink.objects.filter(kind=EntryKind.PERSONAL).count() == 1


@pytest.mark.parametrize("missing", ["agrees", "releases_text"])
def test_what_is_needed_is_needed(client: Client, study: Any, person: Participant, missing: str) -> None:
    page = client.post(page_of(study), {name: value for name, value in ALL.items() if name != missing})
    assert page.status_code == 422
    assert not Consent.objects.exists()


def test_a_release_without_a_licence_is_not_asked_for(client: Client, study: Any, person: Participant) -> None:
    next_version(text_of(study))
    words = client.get(page_of(study)).content.decode()
    assert "releases_log" not in words
    assert "releases_timing" not in words
    client.post(page_of(study), ALL)
    consent = Consent.objects.get()
    assert (consent.releases_log, consent.releases_timing) == (False, False)
    given = consents.give(
        participant=person, text=consent.text, releases_log=True, releases_timing=True, now=timezone.now()
    )
    assert (given.releases_log, given.releases_timing) == (False, False)


def test_declining_writes_nothing_and_leads_back(client: Client, study: Any) -> None:
    def rows() -> dict[str, list[Any]]:
        models = apps.get_app_config("studies").get_models()
        return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}

    end = "https://app.prolific.com/submissions/complete?cc=NO"
    for completion in ({Outcome.NO_CONSENT: end}, {}):
        browser = Client()
        knock(browser, door(platform_link(study, completion=completion), f"person{len(completion)}"))
        before = rows()
        page = browser.post(page_of(study), {**ALL, "decline": "1"})
        assert (page.status_code, f'href="{end}"' in page.content.decode()) == (200, bool(completion))
        assert rows() == before
    assert not Consent.objects.exists()


def test_work_is_behind_consent(study: Any, person: Participant) -> None:
    answer = try_work(person)
    assert answer["Location"] == page_of(study)
    refused = try_work(person, as_json=True)
    assert refused.status_code == 403
    assert json.loads(refused.content) == {"problem": "consent", "next": page_of(study)}
    agree(person, text_of(study))
    assert try_work(person).status_code == 200
    assert try_work(person, as_json=True).status_code == 200


def test_a_new_version_asks_again_but_interrupts_nobody(client: Client, study: Any, person: Participant) -> None:
    agree(person, text_of(study))
    fresh = next_version(text_of(study))
    assert not consents.is_given(participant=person, text=fresh)
    assert consents.is_given_to_any_version(participant=person, text=fresh)
    assert try_work(person)["Location"] == page_of(study)
    assert try_work(person, as_json=True).status_code == 200

    client.post(page_of(study), ALL)
    assert try_work(person).status_code == 200
    assert Consent.objects.count() == 2


def test_consent_to_another_text_or_another_studys_is_none(study: Any, person: Participant) -> None:
    other = offered_study()
    Consent.objects.create(participant=person, text=ConsentTextFactory(study=study), given_at=timezone.now())
    stranger = ParticipantFactory(study=other)
    agree(stranger, text_of(other))
    assert try_work(person).status_code == 302
    assert try_work(person, as_json=True).status_code == 403
    with pytest.raises(consents.NoConsentError):
        agree(person, text_of(other))


def test_who_withdrew_works_no_more(client: Client, study: Any, person: Participant) -> None:
    agree(person, text_of(study))
    withdrawal.withdraw(participant=person, now=timezone.now())
    assert try_work(person)["Location"] == reverse("participant_dashboard", args=[study.slug])
    assert json.loads(try_work(person, as_json=True).content)["problem"] == "withdrawn"
    assert client.get(page_of(study))["Location"] == reverse("participant_dashboard", args=[study.slug])
    with pytest.raises(consents.NoConsentError):
        agree(person, text_of(study))


def test_nothing_of_the_work_is_reached_without_consent(client: Client, study: Any, person: Participant) -> None:
    """A task is had by claiming alone, and claiming is behind consent; so is the editor, whoever has the task."""
    from tests.studies.test_access import ROUTES, filled

    task = WritingTaskFactory(topic__study=study)
    routes = [route for route, _pattern in ROUTES if "<slug:taking_part>/writing/" in route]
    assert routes
    for route in routes:
        path = filled(route.replace("<slug:taking_part>", study.slug).replace("<str:task>", task.external_id), "none")
        for answer in (client.post(path), client.get(path)):
            assert answer.status_code in {404, 405} or answer.get("Location") == page_of(study), route
    task.refresh_from_db()
    assert (task.state, task.participant) == ("OPEN", None)

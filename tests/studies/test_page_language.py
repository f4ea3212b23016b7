"""Participants' pages are in the study's language, all of each page; researchers' pages are in English."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from numpy.random import default_rng

from annotation.campaign_types import pairwise
from annotation.campaigns import default_texts as judging_texts
from annotation.judging import decisions
from annotation.models import Assignment, AttentionCheck, Campaign
from annotation.quality import attention_checks, practice
from crowdrag.studies import page_language
from crowdrag.studies.models import Participant
from crowdrag.studies.page_language import in_study_language
from tests.factories import NOW, ParticipantFactory, StudyFactory
from tests.pages.questionnaires import Sheet, make
from tests.participants import as_participant
from tests.studies.activity import door, knock, offered_study, open_link, personal_link
from tests.studies.marked_words import bracketed, outside, unmarked_words
from tests.writing.open_plan import World, finish, world
from writing.enums import SurveyKind
from writing.plans import default_texts, surveys
from writing.review import services

pytestmark = pytest.mark.django_db
GERMAN, FRENCH, ENGLISH = ({"Accept-Language": tag} for tag in ("de-DE,de;q=0.9", "fr", "en"))


def language_of(page: Any) -> str:
    found = re.search(r'<html lang="([\w-]+)"', page.content.decode())
    assert found is not None
    return found[1]


def test_researchers_pages_are_english_whatever_the_browser_asks_for(client: Client) -> None:
    page = client.get(reverse("login"), headers=GERMAN)
    assert language_of(page) == "en"
    assert "Accept-Language" not in page.headers.get("Vary", "")


@pytest.mark.parametrize(
    ("study_language", "expected"), [("de", "de"), ("de-AT", "de"), ("es-MX", "es"), ("fr", "fr"), ("ja", "en")]
)
def test_a_participants_pages_are_in_the_studys_language(client: Client, study_language: str, expected: str) -> None:
    study = offered_study(language=study_language, researchers="Die Lesegruppe")
    address = door(open_link(study))
    assert language_of(client.get(address, headers=FRENCH)) == expected
    page = client.get(knock(client, address)["Location"], headers=FRENCH)
    source = page.content.decode()
    assert language_of(page) == expected
    assert re.search(rf'<div class="prose" lang="{study_language}" dir="auto">\s*<h\d>What we record', source)
    assert f'<dd lang="{study_language}" dir="auto">Die Lesegruppe</dd>' in source
    assert translation.get_language() == "en", "the next request begins in English"


def test_where_no_study_is_known_the_browser_decides(client: Client) -> None:
    study = offered_study(language="es")
    link = personal_link(study)
    for name in ("participant_return", "withdraw"):
        page = client.get(reverse(name), headers=GERMAN)
        assert (language_of(page), "Accept-Language" in page["Vary"]) == ("de", True)
    assert language_of(client.get(reverse("join", args=["unknown"]), headers=FRENCH)) == "fr"
    assert language_of(client.get(reverse("participant_dashboard", args=[study.slug]), headers=GERMAN)) == "de"
    assert language_of(client.post(reverse("withdraw"), {"key": link.key}, headers=GERMAN)) == "es"


def test_a_page_that_is_not_there_is_in_the_language_too(client: Client) -> None:
    person = ParticipantFactory(study__language="de")
    as_participant(client, person)
    page = client.get(reverse("writing_task", args=[person.study.slug, "unknown"]))
    assert (page.status_code, language_of(page)) == (404, "de")
    assert f'href="{reverse("participant_return")}"' in page.content.decode(), "no page of researchers"


def test_the_texts_that_a_study_begins_with_are_in_its_language() -> None:
    english, german = StudyFactory.build(), StudyFactory.build(language="de")

    def texts(study: Any) -> list[Any]:
        return [
            default_texts.instructions(study),
            default_texts.consent(study),
            surveys.defaults(study, SurveyKind.ENTRY),
            surveys.defaults(study, SurveyKind.EXIT),
            judging_texts.instructions(study, pairwise.TYPE, []),
            judging_texts.consent(study)["text"],
        ]

    assert [one == other for one, other in zip(texts(english), texts(german), strict=True)] == [False] * 6
    values = [[option["value"] for option in each["options"]] for each in surveys.defaults(german, SurveyKind.ENTRY)]
    assert values == [[option["value"] for option in e["options"]] for e in surveys.defaults(english, SurveyKind.ENTRY)]


@pytest.fixture
def brackets() -> Iterator[None]:
    with bracketed("de"):
        yield


def unmarked(pages: list[Any], person: Participant, *names: str) -> list[str]:
    """Return what is not translated on any of the pages, with the page."""
    study = person.study
    known = {
        "CrowdRAG",
        "UTC",
        study.title,
        study.currency,
        person.external_id,
        study.contact,
        study.researchers,
        *names,
    }
    found = []
    for page in pages:
        assert page.status_code in {200, 403, 404, 410, 422}, page.status_code
        path = page.request["PATH_INFO"]
        found += [f"{path}: {piece}" for piece in unmarked_words(page.content.decode(), known)]
    return found


def test_every_word_on_the_way_into_a_study_is_translated(client: Client, brackets: None) -> None:
    study = offered_study(language="de", contact="group@example.org")
    address = door(open_link(study))
    pages = [client.get(address), client.get(door(open_link(study)), headers={"User-Agent": "iPhone Mobile"})]
    consent = knock(client, address)["Location"]
    pages += [client.get(consent), client.post(consent, {})]
    pages.append(client.post(consent, {"agrees": "on", "releases_text": "on"}))
    person = Participant.objects.get()
    own = [study.slug]
    pages.append(client.get(reverse("participant_dashboard", args=own)))
    pages += [
        client.get(reverse("participant_message_new", args=own)),
        client.get(reverse("participant_withdraw", args=own)),
    ]
    pages += [
        client.post(reverse("participant_message_new", args=own), {}),
        client.post(reverse("participant_withdraw", args=own), {}),
    ]
    client.post(reverse("participant_message_new", args=own), {"kind": "QUESTION", "text": "17?"})
    pages.append(client.get(reverse("participant_dashboard", args=own)))
    pages.append(client.get(reverse("participant_withdraw", args=own)))
    for choice in ("stop", "erase"):
        pages.append(client.post(reverse("participant_withdraw", args=own), {"choice": choice, "is_sure": "on"}))
    pages += [client.get(reverse(name), headers=GERMAN) for name in ("participant_return", "withdraw")]
    pages.append(client.get(reverse("join", args=["unknown"]), headers=GERMAN))
    pages.append(client.get(reverse("participant_dashboard", args=own), headers=GERMAN))
    assert unmarked(pages, person, "poster") == []


@pytest.fixture
def sheet(brackets: None) -> Sheet:
    return make(study=StudyFactory(language="de"), items=3)


def test_every_word_of_the_practice_pair_is_translated(sheet: Sheet, client: Client) -> None:
    Campaign.objects.filter(pk=sheet.world.campaign.pk).update(has_practice=True)
    beginner = sheet.world.judge()
    as_participant(client, beginner)
    address = reverse("judging_training", args=[sheet.world.study.slug, sheet.world.campaign.pk])
    pages = [client.get(sheet.start), client.get(address), client.post(address, {})]
    client.post(address, {f"q-{each.pk}": "1" for each in sheet.world.dimensions})
    pages.append(client.get(address))
    assert unmarked(pages, beginner, sheet.world.campaign.name) == []
    with in_study_language(sheet.world.study):
        shown = practice.pair()
    reasons = [reason for _expected, reason in shown.labels.values()]
    assert [outside(text) for text in (shown.query, shown.a, shown.b, *reasons)] == [""] * (3 + len(reasons))


def test_attention_checks_are_stored_in_the_studys_language(sheet: Sheet) -> None:
    """Workers are assessed by them, so they must understand them."""
    drawn = sheet.world.campaign.questionnaires.all()
    checks = attention_checks.place_checks(questionnaires=drawn, per_questionnaire=2, rng=default_rng(1))
    assert {outside(each.text).replace(label, "") for each in checks for label in labels_of(each)} <= {""}
    nonsense = [each for each in checks if each.text in attention_checks.texts_of(sheet.world.campaign).nonsense]
    assert nonsense
    assert {outside(label) for each in nonsense for label in labels_of(each)} == {""}


def labels_of(check: AttentionCheck) -> list[str]:
    return [option["label"] for option in check.options]


def test_every_word_of_judging_is_translated(sheet: Sheet, client: Client) -> None:
    as_participant(client, sheet.judge)
    own = [sheet.world.study.slug]
    pages = [client.get(reverse("participant_dashboard", args=own)), client.get(sheet.start), client.get(sheet.path)]
    pages.append(client.get(sheet.address("return")))
    pages.append(client.post(sheet.address("submit"), {"comment": ""}))
    sheet.complete()
    client.post(sheet.address("submit"), {"comment": ""})
    pages += [
        client.get(sheet.address("done")),
        client.get(sheet.start),
        client.get(reverse("participant_dashboard", args=own)),
    ]
    mine = Assignment.objects.get(pk=sheet.mine.pk)
    decisions.reject(assignment=mine, reason="17", by=sheet.world.member(), now=timezone.now())
    pages += [client.get(sheet.address("done")), client.get(reverse("participant_dashboard", args=own))]
    assert unmarked(pages, sheet.judge, "17", sheet.world.campaign.name) == []


@pytest.fixture
def here(brackets: None) -> World:
    made = world(topics=3, pay=275, minutes=25, study=StudyFactory(language="de"))
    for kind, name in ((SurveyKind.ENTRY, "entry_survey"), (SurveyKind.EXIT, "exit_survey")):
        made.change(**{name: surveys.ensure(study=made.study, kind=kind, now=NOW)})
    return made


def test_every_word_of_writing_is_translated(here: World, client: Client) -> None:
    person, own = here.writer(), [here.study.slug]
    as_participant(client, person)

    def at(name: str) -> str:
        return reverse(name, args=[*own, task.external_id])

    pages = [client.get(reverse("writing_start", args=own))]
    task = here.claim(person, timezone.now())
    pages += [
        client.get(reverse("writing_start", args=own)),
        client.get(at("writing_entry")),
        client.post(at("writing_entry"), {}),
    ]
    client.post(
        at("writing_entry"),
        {"query_answerable": "1", "query_controversial": "0", "worker_knowledge": "3", "worker_expertise": "1"},
    )
    pages += [client.get(at("writing_editor")), client.get(at("writing_return"))]
    finish(task, now=timezone.now())
    pages += [client.get(at("writing_exit")), client.post(at("writing_exit"), {})]
    exit_answers = {
        "worker_satisfaction": "1",
        "references_quality": "4",
        "references_extra": "2",
        "references_omission": "-1",
    }
    client.post(at("writing_exit"), exit_answers)
    pages += [client.get(at("writing_done")), client.get(reverse("participant_dashboard", args=own))]
    task.refresh_from_db()
    services.reject(task=task, reason="17", by=here.reviewer(), now=timezone.now())
    pages += [client.get(at("writing_done")), client.get(reverse("participant_dashboard", args=own))]
    returned = here.claim(person, timezone.now())
    task = returned
    client.post(at("writing_return"), {"reason": "17"})
    pages.append(client.get(at("writing_task")))
    labels = [style.label for style in here.styles] + [topic.query for topic in here.topics]
    assert unmarked(pages, person, *labels) == []


def test_a_study_without_a_catalogue_has_english_pages() -> None:
    assert page_language.language_of(StudyFactory.build(language="tl")) == "en"

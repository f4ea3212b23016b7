"""A writer's whole way by keyboard alone: from their next response, through questions and editor, to its end."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.factories import NOW, PassageFactory, RetrievedPassageFactory
from tests.pages.accessibility import look
from tests.pages.editor_study import enter, leave, passage_text, saved
from tests.pages.keyboard import press
from tests.writing.open_plan import World, finish, hand_in, world, write
from writing.assignments import claims, leases
from writing.enums import SurveyKind, TaskState
from writing.models import Response, SurveyAnswers, WritingTask
from writing.plans import surveys
from writing.review import services

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
TEXT = "The tide follows the moon [0]. A funnel raises it [1]."


@pytest.fixture
def here() -> World:
    """Two topics with passages, and the default questions."""
    made = world(topics=2, pay=275)
    for topic in made.topics:
        for rank in range(5):
            passage = PassageFactory(study=made.study, text=passage_text(rank))
            RetrievedPassageFactory(topic=topic, passage=passage, rank=rank)
    for kind, name in ((SurveyKind.ENTRY, "entry_survey"), (SurveyKind.EXIT, "exit_survey")):
        made.change(**{name: surveys.ensure(study=made.study, kind=kind, now=NOW)})
    return made


def finish_text(page: Page) -> None:
    """Say that the text is done, and confirm it."""
    for button in ("#finish", "#finish-confirm"):
        press(page, page.locator(button))
    page.wait_for_url("**/exit/")


def answer(page: Page, count: int) -> None:
    """Answer so many groups of radio buttons: into each with the tabulator, then by arrow and space."""
    for _ in range(count):
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.type") == "radio":
                break
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")


def test_from_the_next_response_until_it_is_handed_in(page: Page, live_server: Any, here: World) -> None:
    person, submit = here.writer(), page.locator("main [type=submit]").first
    enter(page.context, live_server.url, person)
    page.goto(live_server.url + reverse("writing_start", args=[here.study.slug]))
    found = look(page)
    press(page, submit)
    page.wait_for_url("**/entry/")
    task = WritingTask.objects.get(participant=person)
    press(page, submit)  # the browser points at what is not answered
    assert "/entry/" in page.url
    found += look(page)
    page.reload()
    answer(page, 4)
    press(page, submit)
    page.wait_for_url("**/write/")
    page.wait_for_selector("#text:not([disabled])")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type(TEXT)
    saved(page)
    finish_text(page)
    found += look(page)

    press(page, page.locator("[name=back]"))
    page.wait_for_url("**/write/")
    page.wait_for_selector("#text:not([disabled])")
    expect(page.locator("#text")).to_have_value(TEXT)
    finish_text(page)
    answer(page, 4)
    press(page, page.locator("main [type=submit]").first)
    page.wait_for_url("**/done/")
    expect(page.get_by_role("main")).to_contain_text("USD\u00a02.75")
    found += look(page)
    press(page, submit)
    page.wait_for_url("**/entry/")
    leave(page.context)
    assert found == []
    assert Response.objects.get().text == TEXT
    assert SurveyAnswers.objects.filter(task=task).count() == 2
    assert WritingTask.objects.filter(participant=person, state=TaskState.CLAIMED).count() == 1


@pytest.mark.extended
def test_axe_on_what_comes_less_often(page: Page, live_server: Any, here: World) -> None:
    here.change(entry_survey=None, exit_survey=None)
    person, reviewer, now = here.writer(), here.reviewer(), timezone.now()
    enter(page.context, live_server.url, person)

    def at(name: str, *more: str) -> list[str]:
        page.goto(live_server.url + reverse(name, args=[here.study.slug, *more]))
        return look(page)

    task = claims.claim(study=here.study, participant=person, now=now)
    write(task, TEXT, now=now)
    found = at("writing_start") + at("writing_return", task.external_id)
    leases.expire(now=now + 2 * (task.lease_until - now))
    found += at("writing_task", task.external_id)
    press(page, page.locator("[value=resume]"))
    page.wait_for_url("**/write/")
    leave(page.context)
    task.refresh_from_db()
    finish(task, " More.", now=timezone.now())
    page.goto(live_server.url + reverse("writing_exit", args=[here.study.slug, task.external_id]))
    found += look(page)
    press(page, page.locator("main [type=submit]").first)
    page.wait_for_url("**/done/")
    services.reject(task=task, reason="No source.", pay_part=100, by=reviewer, now=now)
    second = hand_in(claims.claim(study=here.study, participant=person, now=now)).task
    services.accept(task=second, by=reviewer, now=now, note="Thank you.")
    found += at("writing_done", task.external_id) + at("writing_start") + at("participant_dashboard")
    assert found == []

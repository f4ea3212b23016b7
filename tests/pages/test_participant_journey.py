"""A person's way in by keyboard alone, from the link to their own page and out again; axe on every page of it."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from crowdrag.recruitment import completion_codes, platform_studies
from crowdrag.studies.entry import links
from crowdrag.studies.enums import MessageKind
from crowdrag.studies.models import Participant, ParticipantMessage
from tests import erasures
from tests.factories import MembershipFactory
from tests.pages.accessibility import SCREENS, look
from tests.pages.full_study_people import furnish_people
from tests.pages.keyboard import press
from tests.recruitment.conftest import TERMS
from tests.studies.activity import door, offered_study, open_link, personal_link, platform_link
from tests.studies.entry.test_enrolment import MAC

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_whole_way_by_keyboard_alone(page: Page, live_server: Any) -> None:
    study = offered_study(title="Tides and harbours of the northern seas")
    found = []
    page.goto(live_server.url + door(platform_link(study)))
    expect(page.get_by_role("main")).to_contain_text("EUR\u00a030.00")
    found += look(page)
    press(page, page.locator("#come-in button"))

    page.wait_for_url("**/consent/**")
    found += look(page)
    press(page, page.locator("main [type=submit]").first)  # the browser holds back what is not ticked
    assert "/consent/" in page.url
    for box in page.get_by_role("checkbox").all():
        press(page, box, "Space")
    press(page, page.locator("main [type=submit]").first)
    expect(page.locator("#own-link")).to_be_visible()
    found += look(page)
    code = page.locator("#own-code").inner_text()
    page.goto(f"{live_server.url}{reverse('participant_dashboard', args=[study.slug])}")
    found += look(page)
    press(page, page.locator(f"main a[href^='{reverse('participant_message_new', args=[study.slug])}']").first)
    found += look(page)
    press(page, page.get_by_role("combobox"), "ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("The button does not answer.")
    press(page, page.locator("main [type=submit]").first)
    expect(page.get_by_text("The button does not answer.").first).to_be_visible()
    found += look(page)
    assert ParticipantMessage.objects.get().kind == MessageKind.PROBLEM

    page.goto(f"{live_server.url}{reverse('withdraw')}")
    found += look(page)
    page.get_by_role("textbox").focus()
    page.keyboard.type(code)
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio").first).to_be_visible()
    found += look(page)
    page.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    press(page, page.get_by_role("checkbox").first, "Space")
    with page.expect_navigation():
        press(page, page.locator("main [type=submit]").last)
    found += look(page)
    assert found == []
    assert erasures.carry_out() == 1
    assert Participant.objects.get().erased_at


@pytest.mark.extended
def test_pages_that_say_what_is_wrong(page: Page, live_server: Any) -> None:
    study = offered_study()
    link = platform_link(study)
    shut = open_link(study)
    links.close(link=shut, now=timezone.now())
    made = personal_link(study)
    addresses = [
        reverse("join", args=[links.make_key()]),
        reverse("join", args=[link.token]),
        door(shut),
        reverse("join", args=[made.key]),
        reverse("participant_dashboard", args=[study.slug]),
        reverse("participant_return"),
    ]
    found = []
    for address in addresses:
        page.goto(live_server.url + address)
        found += look(page, SCREENS)
    page.get_by_role("textbox").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.locator("[aria-invalid=true]")).to_be_visible()
    found += look(page)
    assert found == []


@pytest.mark.extended
def test_declining_leads_to_a_page_and_back_to_the_platform(page: Page, live_server: Any) -> None:
    study = offered_study()
    end = "https://app.prolific.com/submissions/complete?cc=NO"
    page.goto(live_server.url + door(platform_link(study, completion={"NO_CONSENT": end})))
    page.locator("#come-in button").click()
    page.wait_for_url("**/consent/**")
    page.locator("main [type=submit]").nth(1).click()
    expect(page.locator(f"main a[href='{end}']")).to_be_visible()
    assert look(page) == []


@pytest.mark.extended
def test_a_tablet_that_calls_itself_a_desktop_is_met_by_the_page(browser: Browser, live_server: Any) -> None:
    terms = platform_studies.Terms(**{**TERMS.__dict__, "devices": ["desktop"]})
    made = platform_studies.prepare_draft(
        study=offered_study(), purpose="writing", terms=terms, by=None, now=timezone.now()
    )
    screen = {"width": 820, "height": 1180}
    tablet = browser.new_context(user_agent=MAC, viewport=screen, screen=screen, has_touch=True, is_mobile=True)
    tablet.set_extra_http_headers({"Sec-CH-UA-Mobile": "?0"})
    page = tablet.new_page()
    page.goto(live_server.url + door(made.link))
    expect(page.locator("#bad-device")).to_be_visible()
    expect(page.locator("#bad-device-title")).to_be_focused()
    expect(page.locator("#bad-device .completion-code")).to_have_text(made.codes[completion_codes.BAD_DEVICE])
    expect(page.locator("#come-in")).to_have_count(0)
    assert look(page) == []
    tablet.close()
    desktop = browser.new_context(user_agent=MAC)
    page = desktop.new_page()
    page.goto(live_server.url + door(made.link))
    expect(page.locator("#bad-device")).to_be_hidden()
    expect(page.locator("#come-in")).to_be_visible()
    desktop.close()


def test_the_key_is_in_no_referer(page: Page, live_server: Any) -> None:
    """Neither the page of a personal link nor what comes after it tells another host where it was."""
    study = offered_study()
    made = personal_link(study)
    told: list[str] = []
    page.route("https://elsewhere.example/**", lambda route: route.fulfill(status=200, body="ok"))
    page.on(
        "request",
        lambda request: told.append(request.headers.get("referer", "")) if "elsewhere" in request.url else None,
    )
    page.goto(f"{live_server.url}{reverse('join', args=[made.key])}")
    page.evaluate(
        """() => {
            const link = document.createElement("a");
            link.href = "https://elsewhere.example/";
            document.body.append(link);
            link.click();
        }"""
    )
    page.wait_for_url("https://elsewhere.example/")
    assert told == [""]


@pytest.mark.extended
def test_researchers_make_an_invitation_and_answer(page: Page, live_server: Any, sign_in: Any) -> None:
    study = offered_study()
    furnish_people(study)
    sign_in(MembershipFactory(study=study, role=40).user)
    page.goto(f"{live_server.url}{reverse('entry_links', args=[study.slug])}")
    found = look(page)
    personal = page.locator("form", has=page.locator("input[name=kind][value=PERSONAL]"))
    page.locator("details", has=personal).locator("summary").first.click()
    personal.locator("textarea").first.fill("Bea\nCleo")
    found += look(page)
    personal.locator("[type=submit]").click()
    expect(page.locator("#made-1")).to_be_visible()
    found += look(page)
    page.get_by_role("button", name="New link Bea").click()
    page.get_by_role("button", name="Create new link").click()
    expect(page.locator("#made-1")).to_contain_text("/join/")
    page.locator("details", has=page.locator("input[name=kind][value=PLATFORM]")).locator("summary").first.click()
    found += look(page)
    page.goto(f"{live_server.url}{reverse('participant_messages', args=[study.slug])}")
    found += look(page)
    page.locator("main textarea").first.fill("By Friday.")
    with page.expect_navigation():
        page.locator("form", has=page.locator("textarea")).locator("[type=submit]").first.click()
    assert not ParticipantMessage.objects.filter(answered_at=None).exists()
    assert found == []

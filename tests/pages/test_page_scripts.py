"""What the scripts of every page do, in a real browser: by mouse, and by keyboard alone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.factories import MembershipFactory
from tests.jobs.conftest import until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def components(page: Page, live_server: Any) -> Page:
    page.goto(f"{live_server.url}/components/")
    return page


def column(table: Locator, number: int) -> list[str]:
    return [text.strip() for text in table.locator(f"tbody tr > :nth-child({number})").all_inner_texts()]


def test_tables_sort_by_keyboard_and_say_so(components: Page) -> None:
    table = components.get_by_role("region", name="Agreement by dimension").locator("table")
    came = column(table, 1)
    alpha = table.get_by_role("button", name="Alpha")
    header = table.locator("th", has_text="Alpha")
    alpha.focus()
    components.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    # Negative numbers below zero, not above it; what is not defined stays last.
    assert column(table, 1) == [
        "correctness_topical", "coherence_stylistic", "coverage_broad", "coherence_logical", "coverage_deep",
    ]  # fmt: skip
    components.keyboard.press("Space")
    assert header.get_attribute("aria-sort") == "ascending"
    assert column(table, 1)[0] == "coherence_logical"
    assert column(table, 1)[-1] == "coverage_deep"
    components.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "none"
    assert column(table, 1) == came
    table.get_by_role("button", name="Dimension").click()
    assert column(table, 1) == sorted(came)
    assert table.get_by_role("button", name="Votes of one pair").count() == 0


def test_skip_link_comes_first_and_leads_to_the_content(components: Page) -> None:
    components.keyboard.press("Tab")
    link = components.locator("a.skip")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    components.keyboard.press("Enter")
    expect(components.locator("#main")).to_be_focused()


# What can be focused, and of each: whether the focus is seen, and the size of what one has to hit.
STOPS = """() => {
  const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']");
  const outlined = (element) => element && getComputedStyle(element).outlineStyle !== "none";
  const found = [];
  for (const element of all) {
    if (element.disabled || !element.checkVisibility()) continue;
    element.focus({ focusVisible: true, preventScroll: true });
    if (document.activeElement !== element) continue;
    const target = element.closest("label, .file-drop") ?? element;
    const box = target.getBoundingClientRect();
    found.push({
      html: element.outerHTML.slice(0, 90),
      seen: [element, target, element.closest(".card--link")].some(outlined),
      inText: element.matches("p a, li a, .card-title a") && !element.matches(".cite, .tabs a, .exports a"),
      width: box.width,
      height: box.height,
    });
  }
  return found;
}"""


def test_every_focus_is_seen_and_every_target_large_enough(components: Page) -> None:
    """WCAG 2.2: 2.4.7, and 2.5.8 with its exception for links in a text."""
    stops = components.evaluate(STOPS)
    assert len(stops) > 50
    assert [stop["html"] for stop in stops if not stop["seen"]] == []
    small = [stop for stop in stops if not stop["inText"] and min(stop["width"], stop["height"]) < 24]
    assert [(stop["html"], stop["width"], stop["height"]) for stop in small] == []


def test_dialog_opens_closes_and_gives_the_focus_back(components: Page) -> None:
    opener, dialog = components.locator("[data-opens='#sample-dialog']"), components.locator("#sample-dialog")
    opener.press("Enter")
    expect(dialog).to_be_visible()
    components.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    dialog.locator("[data-closes]").first.click()
    expect(dialog).to_be_hidden()
    opener.click()
    components.mouse.click(5, 300)
    expect(dialog).to_be_hidden()


@pytest.mark.extended
def test_theme_follows_the_system_until_chosen_and_is_there_before_the_first_paint(components: Page) -> None:
    def choose(name: str, ground: str) -> None:
        components.locator(f"[type=radio][value={name}]").first.check()
        expect(components.locator("body")).to_have_css("background-color", ground)

    light, dark = "rgb(244, 246, 246)", "rgb(15, 21, 25)"
    components.emulate_media(color_scheme="dark")
    expect(components.locator("body")).to_have_css("background-color", dark)
    for name, ground in (("light", light), ("auto", dark)):
        choose(name, ground)
    components.emulate_media(color_scheme="light")
    choose("dark", dark)
    # Without the modules, so that only the early script can have set it.
    components.route("**/js/main.js", lambda route: route.abort())
    components.reload()
    expect(components.locator("body")).to_have_css("background-color", dark)


@pytest.mark.extended
def test_charts_follow_the_chosen_theme(components: Page) -> None:
    components.evaluate(
        """() => {
            const svg = (name) => `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" id="${name}"/>`;
            const picture = document.createElement("picture");
            picture.dataset.themed = "";
            picture.id = "chart";
            const source = document.createElement("source");
            source.media = "(prefers-color-scheme: dark)";
            source.srcset = svg("white").replaceAll(" ", "%20");
            const image = document.createElement("img");
            image.src = svg("black");
            picture.append(source, image);
            document.querySelector("main").append(picture);
        }"""
    )
    shown = "name => document.querySelector('#chart img').currentSrc.includes(name)"
    components.locator("[type=radio][value=dark]").first.check()
    until(lambda: components.evaluate(shown, "white"))  # polling in the page itself would need eval
    components.locator("[type=radio][value=light]").first.check()
    until(lambda: components.evaluate(shown, "black"))


def test_errors_of_a_form_take_the_focus_and_lead_to_their_fields(page: Page, live_server: Any) -> None:
    page.goto(f"{live_server.url}/components/?errors=1")
    summary = page.locator("[data-errors]")
    expect(summary).to_be_focused()
    link = summary.get_by_role("link").first
    field = page.locator(str(link.get_attribute("href")))
    link.click()
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    assert f"{field.get_attribute('id')}_error" in str(field.get_attribute("aria-describedby"))


@pytest.mark.extended
def test_a_chosen_file_is_named(components: Page) -> None:
    chosen = {"name": "topics.jsonl", "mimeType": "text/plain", "buffer": b"x" * 2500}
    components.locator("input[type=file]").first.set_input_files(chosen)
    expect(components.locator("[data-drop-name]")).to_have_text("topics.jsonl (2.5 kB)")


@pytest.mark.extended
def test_menu_closes_with_escape_and_outside(page: Page, live_server: Any, sign_in: Any) -> None:
    sign_in()
    page.goto(f"{live_server.url}/studies/")
    button = page.locator("details.menu > summary")
    panel = page.locator(".menu-panel")
    button.focus()
    page.keyboard.press("Enter")
    expect(panel).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    page.get_by_role("heading", level=1).click()
    expect(panel).to_be_hidden()


@pytest.mark.usefixtures("sign_in_by_form")
def test_signing_in_by_the_form_and_out_by_keyboard(page: Page) -> None:
    page.locator("details.menu > summary").press("Enter")
    page.get_by_role("button", name="Sign out").press("Enter")
    page.wait_for_url("**/login/")


def failing(answer: dict[str, Any] | None) -> Callable[[Route], None]:
    return lambda route: route.fulfill(**answer) if answer else route.abort()


PROBLEM = "Somebody judged this already."


def test_a_failed_request_is_told_once(components: Page) -> None:
    toast = components.locator(".toast")
    answers: list[dict[str, Any] | None] = [{"status": 409, "headers": {"X-Problem": PROBLEM}}, {"status": 502}, None]
    for answer in answers:
        components.route("**/ask", failing(answer))
        ask(components)
        expect(toast).to_have_attribute("role", "alert")
        assert (PROBLEM in toast.inner_text()) == bool(answer and "headers" in answer)
        expect(components.locator("#answer")).to_be_empty()
        ask(components)
        expect(toast).to_have_count(1)
        toast.get_by_role("button").click()
        expect(toast).to_have_count(0)
        components.unroute("**/ask")


TABLE = """<table class="data" data-sortable id="late"><thead><tr><th>Name</th></tr></thead>
<tbody><tr><td>b</td></tr><tr><td>a10</td></tr><tr><td>a9</td></tr></tbody></table>"""


def test_requests_carry_the_token_and_what_is_swapped_in_works_and_toasts_come_along(components: Page) -> None:
    seen: list[Request] = []

    def answer(route: Route) -> None:
        seen.append(route.request)
        headers = {"HX-Trigger": '{"toast": {"text": "Asked and answered", "tone": "good"}}'}
        route.fulfill(status=200, body=TABLE, content_type="text/html", headers=headers)

    components.route("**/ask", answer)
    ask(components)
    expect(components.locator(".toast")).to_contain_text("Asked and answered")
    assert len(seen[0].headers["x-csrftoken"]) == 64
    late = components.locator("#late")
    late.get_by_role("button", name="Name").click()
    assert column(late, 1) == ["a9", "a10", "b"]


def ask(page: Page, asking: str = "hx-post", address: str = "/ask") -> None:
    """Press a button that asks the server for something; it is put into the page as HTMX would."""
    page.evaluate(
        """([asking, address]) => {
            if (document.querySelector("#ask")) return;
            const button = document.createElement("button");
            button.id = button.textContent = "ask";
            button.setAttribute(asking, address);
            button.setAttribute("hx-target", "#answer");
            const answer = document.createElement("div");
            answer.id = "answer";
            document.querySelector("main").append(button, answer);
            htmx.process(button);
        }""",
        [asking, address],
    )
    with page.expect_event("request", lambda request: request.url.endswith(address)):
        page.locator("#ask").click()


@pytest.mark.extended
def test_a_request_that_ends_at_the_login_does_not_swap_it_in(page: Page, live_server: Any, sign_in: Any) -> None:
    sign_in()
    page.goto(f"{live_server.url}/studies/")
    page.context.clear_cookies()
    ask(page, "hx-get", "/studies/new/")
    expect(page.locator(".toast a")).to_have_attribute("href", "/login/?next=%2Fstudies%2F")
    expect(page.locator("#answer")).to_be_empty()


def test_a_form_is_sent_once(page: Page, live_server: Any) -> None:
    sent: list[Request] = []

    def answer(route: Route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        sent.append(route.request)
        return route.fulfill(status=204)  # the page stays as it is

    page.goto(f"{live_server.url}/login/")
    page.route("**/login/", answer)
    page.locator("[name=username]").fill("a@example.org")
    page.locator("[name=password]").fill("x")
    page.evaluate("const b = document.querySelector('main button'); b.click(); b.click();")
    expect(page.locator("main button")).to_have_attribute("aria-busy", "true")
    page.wait_for_timeout(200)
    assert len(sent) == 1


def test_pages_work_without_scripts(browser: Any, live_server: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/components/")
    expect(page.locator("[type=radio][value=dark]").first).to_be_hidden()
    chooser = page.locator("input[type=file]").first
    expect(chooser).to_be_visible()
    assert chooser.evaluate("e => getComputedStyle(e).opacity") == "1"
    context.close()


@pytest.mark.extended
def test_a_long_title_without_spaces_is_no_wider_than_a_phone(page: Page, live_server: Any, sign_in: Any) -> None:
    member = MembershipFactory(study__title="x" * 190)
    sign_in(member.user)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{live_server.url}/studies/{member.study.slug}/")
    assert page.get_by_role("heading", level=1).bounding_box()["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390

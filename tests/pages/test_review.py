"""Review in a real browser: by keyboard alone, scrubbing, several reviewers at once."""

import random
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.studies.enums import Role
from crowdrag.studies.models import User
from tests.factories import MembershipFactory, StudyFactory, UserFactory
from tests.jobs.conftest import until
from tests.pages.accessibility import settled_violations
from tests.pages.editor_study import admit
from tests.submitted_responses import submitted, written
from writing.editor import codec
from writing.enums import TaskState
from writing.models import WritingTask
from writing.replay import merged_log, playback

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLAYER = "document.querySelector('[data-replay]').player"
SHEET = """() => {
  const sheet = document.querySelector("[data-replay-sheet]").cloneNode(true);
  for (const gone of sheet.querySelectorAll("del")) gone.remove();
  return sheet.textContent;
}"""


@pytest.fixture
def study() -> Any:
    return StudyFactory(slug="tides")


@pytest.fixture
def reviewer(study: Any) -> User:
    return MembershipFactory(study=study, user=UserFactory(), role=Role.REVIEWER).user


def ready(page: Page) -> None:
    page.wait_for_selector("[data-replay][data-ready=yes]")


def test_three_responses_by_keyboard_alone(page: Page, live_server: Any, study: Any, reviewer: User) -> None:
    first, second, third = (submitted(study, minutes=minutes) for minutes in (30, 20, 10))
    admit(page.context, live_server.url, reviewer)
    page.goto(f"{live_server.url}/studies/tides/review/")
    page.locator("form[action*='/next/'] button").press("Enter")
    page.wait_for_url(f"**/{first.external_id}/")
    ready(page)
    # Accepting takes two keys.
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{second.external_id}/")
    ready(page)
    # Keys that are typed into a form are no commands.
    page.keyboard.press("x")
    panel = page.locator("[data-review-panel=x]")
    expect(panel.locator("[name=reason]")).to_be_focused()
    page.keyboard.type("n, a, x: no citation fits its claim.")
    page.keyboard.press("Escape")
    expect(panel.locator("[name=reason]")).to_be_hidden()
    page.keyboard.press("x")
    for _ in range(3):  # past the pay and the amount
        page.keyboard.press("Tab")
    expect(panel.locator("button[type=submit]")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{third.external_id}/")
    ready(page)
    page.keyboard.press("e")
    page.keyboard.type("A friend wrote it.")
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    ready(page)
    page.keyboard.press("v")
    page.keyboard.type("Cite every claim.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/review/")
    states = [WritingTask.objects.get(pk=task.pk).state for task in (first, second, third)]
    assert states == [TaskState.ACCEPTED, TaskState.REJECTED, TaskState.REVISION]
    assert not WritingTask.objects.get(pk=third.pk).response.is_included


@pytest.fixture
def replayed(page: Page, live_server: Any, study: Any, reviewer: User) -> WritingTask:
    task = submitted(study)
    admit(page.context, live_server.url, reviewer)
    page.goto(f"{live_server.url}/studies/tides/review/{task.external_id}/")
    ready(page)
    return task


@pytest.mark.extended
def test_scrubbing_gives_the_text_of_that_moment(page: Page, replayed: WritingTask) -> None:
    line = merged_log.merge(replayed.log)
    rng = random.Random(7)
    moments = [0, line.end, *(rng.randrange(line.end + 1) for _ in range(60))]
    for moment in moments:
        page.evaluate(f"t => {PLAYER}.seekReal(t)", moment)
        t = int(page.evaluate(f"Math.floor({PLAYER}.t + 1e-6)"))
        assert page.evaluate(SHEET) == codec.text_at(line.events, t), moment


@pytest.mark.extended
def test_the_player_by_keyboard(page: Page, replayed: WritingTask) -> None:
    _events, text = written()
    slider = page.get_by_role("slider").first
    at = f"{PLAYER}.at"
    slider.focus()
    page.keyboard.press("Home")
    assert page.evaluate(SHEET) == ""
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at) == 5_000
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"14 .*18 .*18 "))
    page.keyboard.press("End")
    assert page.evaluate(SHEET) == text
    page.keyboard.press("0")
    page.keyboard.press("p")  # the paste, in its place, marked
    expect(page.locator(".arrival--elsewhere")).to_have_text(
        "The moon pulls harder on the near side than on the far side of the earth."
    )
    expect(page.locator(".arrival")).to_have_attribute("data-from", "elsewhere")
    page.keyboard.press(".")  # the deletion after it is struck for a moment
    expect(page.locator("del.gone")).to_have_text("Tides")
    page.keyboard.press(",")
    expect(page.locator("del.gone")).to_have_count(0)
    expect(page.locator("#passage-1")).to_have_class("passage is-open")
    expect(page.locator("#passage-1 .passage-now")).not_to_be_empty()
    for key in ("w", "Shift+W"):
        page.keyboard.press(key)
        expect(page.locator("[data-replay-said]")).to_contain_text("9 s")
    page.keyboard.press("r")
    expect(page.locator("[data-replay-response]")).to_be_visible()
    page.keyboard.press("?")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_be_visible()
    assert settled_violations(page) == []
    dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    before = page.evaluate(at)
    page.keyboard.press("0")
    assert page.evaluate(at) == before


@pytest.mark.extended
def test_the_next_paste_is_found_from_where_a_replay_opens(page: Page, replayed: WritingTask) -> None:
    end = page.evaluate(f"{PLAYER}.log.end")
    assert page.evaluate(f"{PLAYER}.t") == end
    page.locator("[data-jump=arrival][data-way='1']").click()
    expect(page.locator(".arrival--elsewhere")).to_be_visible()
    arrivals = page.evaluate(
        f"{PLAYER}.moments.filter((moment) => moment.kind === 'arrival').map((moment) => moment.t)"
    )
    assert page.evaluate(f"{PLAYER}.t") == pytest.approx(arrivals[0], abs=1)
    page.locator("[data-jump=arrival][data-way='-1']").click()
    assert page.evaluate(f"{PLAYER}.t") == pytest.approx(arrivals[-1], abs=1)


@pytest.mark.extended
def test_nothing_moves_until_it_is_played_and_then_it_ends_in_the_text(page: Page, replayed: WritingTask) -> None:
    page.evaluate(f"{PLAYER}.seek(0)")
    page.locator("#replay-speed").select_option("50")
    page.wait_for_timeout(300)
    assert page.evaluate(f"{PLAYER}.at") == 0
    page.keyboard.press("k")
    # Polling in the page itself would need eval.
    until(lambda: page.evaluate(f"{PLAYER}.at >= {PLAYER}.axis.total"))
    assert page.evaluate(f"{PLAYER}.at") > 0
    assert page.evaluate(SHEET) == replayed.response.text
    # Whoever cuts no pause sees them in full.
    total = f"{PLAYER}.axis.total"
    page.locator("#replay-cut").select_option("0")
    whole = page.evaluate(total)
    page.locator("#replay-cut").select_option("5")
    assert whole == playback.document(replayed.log, [])["end"]
    assert page.evaluate(total) < whole - 8_000


@pytest.mark.extended
def test_a_press_on_the_timeline_and_on_a_moment_of_a_signal(page: Page, replayed: WritingTask) -> None:
    box = page.locator(".timeline").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 60)
    assert page.evaluate(f"{PLAYER}.at / {PLAYER}.axis.total") == pytest.approx(0.5, abs=0.02)
    signal = page.locator("#signal-paste_from_elsewhere")
    signal.locator("summary").click()
    signal.locator("[data-replay-at]").first.click()
    expect(page.locator(".arrival--elsewhere")).to_be_visible()


@pytest.mark.extended
def test_a_revision_says_what_it_began_with(page: Page, live_server: Any, study: Any, reviewer: User) -> None:
    first = submitted(study)
    begun = ["s", 0, 0, 0, first.response.text, "restored", ""]
    events = [begun, ["s", 1_900, 0, 0, "So: ", "typed", "insertText"]]
    WritingTask.objects.filter(pk=first.pk).update(state=TaskState.REVISION)
    task = submitted(study, topic=first.topic, participant=first.participant, revises=first, events=events)
    admit(page.context, live_server.url, reviewer)
    page.goto(f"{live_server.url}/studies/tides/review/{task.external_id}/")
    ready(page)
    expect(page.locator("[data-replay-sum]")).to_contain_text("0 %")
    expect(page.locator("[data-jump=arrival][data-way='1']")).to_be_disabled()
    assert page.locator(".tl-arrival").count() == 0
    assert page.locator(".tl-time").all_text_contents() == ["0:00", "0:02"]
    # From the amount too, Ctrl and Enter send.
    page.keyboard.press("x")
    page.keyboard.type("No citation fits.")
    page.locator("[data-review-panel=x] [name=pay][value=part]").check()
    page.locator("[data-review-panel=x] [name=amount]").fill("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/review/")
    assert WritingTask.objects.get(pk=task.pk).state == TaskState.REJECTED


@pytest.mark.extended
@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light")])
def test_open_forms_and_a_replay_under_way_are_accessible(
    page: Page, replayed: WritingTask, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.evaluate(f"{PLAYER}.seekReal(15000)")
    for details in page.locator("details.more, .signals details").all():
        details.evaluate("details => (details.open = true)")
    assert settled_violations(page) == []
    for panel in ("x", "v", "e"):
        page.keyboard.press(panel)
        assert settled_violations(page) == []
        page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    base = page.url.split("/review/")[0]
    for path in ("/review/", f"/responses/{replayed.response.external_id}/replay/"):
        page.goto(f"{base}{path}")
        page.wait_for_load_state("networkidle")
        assert settled_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width

"""A campaign's life in the browser: made, tried, opened; judged, screened, judged again; analysed and exported."""

import gzip
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect

from analysis.analyses import services as analyses_services
from analysis.archive import services as archive_services
from analysis.models import ResultTable
from annotation.enums import AssignmentState as S
from annotation.imports.crowdrag25 import record_schemas
from annotation.judging import claims, leases, submission
from annotation.models import Assignment, Campaign, Judgment, Slot
from crowdrag.jobs import lifecycle
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant, Study
from tests.annotation.campaigns.corpus_to_judge import corpus
from tests.annotation.judge_actions import answer_all
from tests.annotation.open_campaign import World
from tests.factories import MembershipFactory
from tests.pages.editor_study import enter
from tests.pages.questionnaires import questions, saved
from writing.enums import Origin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]
SHEET = re.compile(r"/judging/\d+/\w{32}/$")
# Three responses to one topic are three pairs, which are one questionnaire; two people judge it.
ITEMS, K = 3, 2


@pytest.fixture
def study(tmp_path: Path, settings: Any) -> Study:
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "files", tmp_path
    return corpus(topics=1, origins=(Origin.HUMAN, Origin.HUMAN, Origin.MODEL))


def set_up(page: Page, base: str) -> None:
    """Make a campaign, say what it pays, try it, draw it, open it."""
    page.goto(f"{base}/new/")
    expect(page.locator("[name=source]")).to_be_hidden()
    for name, value in (("name", "First round"), ("k", K), ("pay", "5.50")):
        page.locator(f"[name={name}]").fill(str(value))
    page.keyboard.press("Enter")
    page.wait_for_url("**/launch/")
    page.locator("main a[href$='/setup/']").first.press("Enter")
    page.locator("main a[href$='/edit/#items']").press("Enter")
    page.wait_for_url("**/edit/#items")
    page.locator("#judges details summary").press("Enter")
    for label, value in (("Pairs shown in both orders (%)", 0), ("Minimum completion time in seconds", 60)):
        page.get_by_label(label).fill(str(value))
    with page.expect_navigation():
        page.get_by_label("Pay per questionnaire (USD)").press("Enter")
    page.locator("main a[href$='/launch/']").first.press("Enter")
    with page.expect_navigation():
        page.locator("main button[value=draw]").press("Enter")
    campaign = Campaign.objects.get()
    page.goto(f"{base}/{campaign.pk}/preview/1/")
    assert questions(page).count() == 7
    page.goto(f"{base}/{campaign.pk}/launch/")
    with page.expect_navigation():
        page.locator("main button[value=open]").press("Enter")
    campaign.refresh_from_db()
    assert campaign.state == "OPEN"


def read_link(page: Page) -> str:
    """Return the open link that the launch made and shows."""
    return str(page.locator("code[id^=link-]").inner_text())


def come(page: Page, link: str) -> None:
    """Come by the link, agree, and get a questionnaire."""
    page.goto(link)
    page.locator("#come-in button").click()
    page.wait_for_url("**/consent/**")
    for choice in page.get_by_role("checkbox").all():
        choice.check()
    page.locator("main [type=submit]").first.click()
    expect(page.locator("#own-link")).to_be_visible()
    page.locator("main a.button--main").click()


def practise(page: Page) -> None:
    """Answer the practice pair and read what was expected."""
    page.locator("main a.button--main").click()
    for answer in page.locator("main fieldset").all():
        answer.locator("label").first.click()
    page.locator("main form button[type=submit]").click()
    expect(page.locator("#feedback")).to_be_visible()


def begin(page: Page) -> None:
    page.locator("main form button[type=submit]").click()
    page.wait_for_url(SHEET)
    saved(page)


def judge(page: Page, keys: str) -> Assignment:
    """Answer all of the questionnaire by keys."""
    mine = Assignment.objects.get(external_id=page.url.rstrip("/").rsplit("/", 1)[-1])
    for number in range(ITEMS):
        page.keyboard.press("o")
        for key in keys:
            page.keyboard.press(key)
        expect(page.locator(f"a[data-dot='{number + 1}']")).to_have_attribute("data-progress", "complete")
        if not page.locator("#finish-title").is_visible():
            page.keyboard.press("F9")
    saved(page)
    return mine


def judge_elsewhere(person: Participant, campaign: Campaign, *, minutes: int, value: int) -> Assignment:
    """Have somebody judge whom no browser shows: so many minutes of work, that have just ended."""
    now = timezone.now()
    start = now - timedelta(minutes=minutes)
    mine = claims.claim(campaign=campaign, participant=person, now=start)
    answer_all(mine, now, value=value)
    return submission.submit(assignment=mine, now=now)


def decide(page: Page, mine: Assignment, button: str) -> str:
    """Press a button that decides on a questionnaire, and wait for the next page; return the state."""
    here = page.url
    page.locator(button).click()
    page.wait_for_url(lambda url: url != here)
    mine.refresh_from_db()
    return str(mine.state)


def hand_in(page: Page, mine: Assignment, *, minutes: int = 0) -> None:
    """Hand in, so many minutes after it was begun: the clock is the only thing that this test turns."""
    Assignment.objects.filter(pk=mine.pk).update(assigned_at=F("assigned_at") - timedelta(minutes=minutes))
    page.locator("#hand-in").click()
    page.wait_for_url("**/done/")


@pytest.fixture
def worker(browser: Browser, request: pytest.FixtureRequest) -> Any:
    """Somebody with a browser of their own; on a phone, if asked."""
    opened: list[BrowserContext] = []

    def made(**how: Any) -> Page:
        opened.append(browser.new_context(**how))
        return opened[-1].new_page()

    yield made
    for context in opened:
        context.close()


@pytest.mark.parametrize("last", ["decisions", pytest.param("export", marks=pytest.mark.extended)])
def test_a_campaign_from_its_first_page_to_its_export(
    page: Page, live_server: Any, sign_in: Any, study: Study, worker: Any, last: str
) -> None:
    owner = MembershipFactory(study=study, role=Role.OWNER).user
    sign_in(owner)
    base = f"{live_server.url}/studies/{study.slug}"
    set_up(page, f"{base}/campaigns")
    campaign = Campaign.objects.get()
    assert (campaign.state, Slot.objects.filter(campaign=campaign).open().count()) == ("OPEN", K)
    link = read_link(page)

    # By keys, with time taken.
    careful = worker()
    come(careful, link)
    practise(careful)
    begin(careful)
    first = judge(careful, keys="anbabnb")
    hand_in(careful, first, minutes=20)
    people = World(campaign, [], [], [])
    # One begins, and gives it back.
    returned = claims.claim(campaign=campaign, participant=people.judge(), now=timezone.now())
    leases.give_back(assignment=returned, now=timezone.now())
    assert Slot.objects.filter(campaign=campaign).open().count() == K - 1
    # One is in a hurry: left, left, left.
    hasty = people.judge()
    second = judge_elsewhere(hasty, campaign, minutes=0, value=-1)
    # Whoever comes now comes in vain, and is told so before they agree to anything.
    late = worker()
    late.goto(link)
    expect(late.get_by_role("heading", level=1)).to_be_visible()
    expect(late.locator("#come-in")).to_have_count(0)

    # The hasty one is shown with why, and rejected by a person, with a reason.
    page.goto(f"{base}/campaigns/{campaign.pk}/screening/{second.external_id}/")
    page.locator("details[data-review-panel=x] > summary").click()
    page.locator("[data-review-panel=x] [name=reason]").fill("All answered alike in less than a minute.")
    assert decide(page, second, "[data-review-panel=x] [type=submit]") == S.REJECTED
    assert not second.is_included
    assert Slot.objects.filter(campaign=campaign).open().count() == 1
    enter(late.context, live_server.url, hasty)
    late.goto(f"{live_server.url}/work/{study.slug}/")
    expect(late.get_by_text("All answered alike in less than a minute.").first).to_be_visible()

    # Its place is judged again; then both are accepted.
    third = judge_elsewhere(people.judge(), campaign, minutes=15, value=1)
    for waiting in (first, third):
        page.goto(f"{base}/campaigns/{campaign.pk}/screening/{waiting.external_id}/")
        assert decide(page, waiting, "#accept-form button") == S.ACCEPTED
    holders = Slot.objects.filter(campaign=campaign).values_list("holder", flat=True)
    assert sorted(holders) == sorted([first.pk, third.pk])
    assert not Slot.objects.filter(campaign=campaign).open().exists()

    if last == "export":
        analysed_and_exported(study, [first, third])


def analysed_and_exported(study: Study, counted: list[Assignment]) -> None:
    """What was accepted is what is analysed and released; the archive holds the rest too."""
    run = lifecycle.wait(analyses_services.start(study=study, parameters={"resamples": 10, "restarts": 1, "refine": 0}))
    assert run.state == "DONE", run.error
    tables = {table.name: table.rows for table in ResultTable.objects.filter(run=run)}
    assert {"agreement", "competence", "gold", "grades"} <= tables.keys()
    people = {each.participant.external_id for each in counted}
    assert {row["participant"] for row in tables["competence"]} == people
    pooled = Judgment.objects.pool()
    assert pooled.count() == len(counted) * ITEMS * 7
    released = read(study, "crowdrag25")
    votes = next(rows for name, rows in released.items() if name.split("/")[-1].startswith(record_schemas.VOTES))
    assert {row["worker"] for row in votes} == people
    assert len(votes) == len(counted) * ITEMS
    states = [row["state"] for row in read(study, "archive")["data/assignments.jsonl.gz"]]
    assert sorted(states) == sorted([S.ACCEPTED, S.RETURNED, S.REJECTED, S.ACCEPTED])


def read(study: Study, format_: str) -> dict[str, list[Any]]:
    """Export, and return the lines of each of its files."""
    run = lifecycle.wait(archive_services.start(study=study, format_=format_))
    assert run.state == "DONE", run.error
    with zipfile.ZipFile(run.artifacts.get().file.path) as zipped:
        return {
            name: [json.loads(line) for line in gzip.decompress(zipped.read(name)).decode().splitlines() if line]
            for name in zipped.namelist()
            if name.endswith(".jsonl.gz")
        }

"""Releases in a real browser, from the choice of what is in one to the file that a stranger loads."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from analysis.models import Release, ReleaseLink
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory

from .accessibility import faults
from .releasable import MAIL, TITLE, in_state, releasable, withdraws, worked

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Each width with each theme comes up among the pages of one kind.
SCREENS = [(390, "light"), (1280, "dark")]
OTHERS = [(390, "dark"), (1280, "light")]
PUBLIC = ("published", "embargoed", "marked", "withdrawn")
OWN = ("draft", "building", "failed", "ready")
MOST_TABS = 120


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path


@pytest.fixture
def study() -> Study:
    return releasable()


@pytest.fixture
def stranger(browser: Browser, live_server: Any) -> Iterator[Page]:
    """Somebody without an account, in a browser of their own."""
    context = browser.new_context(accept_downloads=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def owner(study: Study, sign_in: Callable[..., Any]) -> None:
    MembershipFactory(study=study, user=sign_in(), role=Role.OWNER)


def look(page: Page, name: str, screens: list[tuple[int, str]] = SCREENS) -> None:
    """Look at the page on screens; keep pictures where somebody wants to see them."""
    for width, theme in screens:
        assert faults(page, width, theme) == []
        if folder := os.environ.get("CROWDRAG_PICTURES"):
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=Path(folder) / f"{name}-{width}-{theme}.png", full_page=True)


def at(name: str, release: Release, *more: object) -> str:
    return reverse(name, args=[release.study.slug, release.number, *more])


def build(page: Page, study: Study) -> Release:
    """Press the button, have a worker do its work, and look again."""
    page.get_by_role("button", name="Build it").click()
    expect(page.get_by_role("progressbar", name="Building")).to_be_visible()
    release = study.releases.latest("number")
    assert release.run is not None
    worked(release.run)
    page.reload()
    expect(page.get_by_text("ready to publish")).to_be_visible()
    return release


def printed(line: str, folder: Path, *, cwd: Path | None = None) -> str:
    """What Python says of the responses that a line copied from the page loads, in a process of its own."""
    env = os.environ | {"HF_HOME": str(folder)}
    program = f"{line}\nprint(sorted(responses['text']))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def tab_to(page: Page, name: str) -> None:
    """Go on by Tab until what has this name is focused."""
    found = "() => (document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()"
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate(found).startswith(name):
            return
    raise AssertionError(f"{name} is not reached by Tab on {page.url}")


def test_a_researcher_makes_a_version_decides_and_publishes_it(
    page: Page, live_server: Any, study: Study, owner: None, stranger: Page
) -> None:
    page.goto(f"{live_server.url}/studies/tides/releases/")
    page.get_by_role("link", name="Make the first version").click()
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Who made it").fill("Ada Lovelace; The University of Somewhere; 0000-0002-1825-0097")
    page.get_by_role("button", name="Make a draft").click()
    release = build(page, study)
    left_out = page.get_by_role("region", name="What was left out, and why")
    expect(left_out).to_contain_text("people did not agree to the release")
    expect(left_out).to_contain_text("nobody has decided what to do with it")
    page.get_by_role("link", name="Decide").click()
    expect(page.locator("mark")).to_have_text(MAIL)
    page.get_by_role("checkbox").check()
    page.get_by_label("black it out").check()
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("Nothing waits for a decision")).to_be_visible()
    page.goto(live_server.url + at("release", release))
    page.get_by_role("link", name="Change, and build again").click()
    page.get_by_role("button", name="Keep it").click()
    release = build(page, study)
    expect(left_out).not_to_contain_text("nobody has decided")
    assert stranger.goto(live_server.url + at("public_release", release)).status == 404  # type: ignore[union-attr]
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    expect(page.get_by_text("published", exact=True)).to_be_visible()
    stranger.goto(live_server.url + reverse("public_releases"))
    stranger.get_by_role("link", name=TITLE).click()
    expect(stranger.get_by_role("main")).to_contain_text("Write to ████")
    expect(stranger.get_by_role("main")).not_to_contain_text(MAIL)
    expect(stranger.get_by_text("people did not agree to the release")).to_be_visible()
    expect(stranger.get_by_role("link", name="Creative Commons Attribution 4.0")).to_be_visible()
    expect(stranger.locator("#citation")).to_contain_text(f"Ada Lovelace ({timezone.now().year}). {TITLE} (version 1)")


def test_a_stranger_downloads_goes_on_where_it_stopped_and_checks(
    stranger: Page, live_server: Any, study: Study
) -> None:
    release = in_state(study, "published")
    stranger.goto(live_server.url + at("public_release", release))
    stranger.get_by_text("parquet/ with types").click()
    row = stranger.get_by_role("row", name="parquet/responses.parquet")
    shown = row.locator("code").text_content()
    with stranger.expect_download() as downloading:
        row.get_by_role("link").click()
    whole = Path(downloading.value.path()).read_bytes()
    assert hashlib.sha256(whole).hexdigest() == shown
    address = live_server.url + at("public_release_file", release, "parquet/responses.parquet")
    with urlopen(Request(address, headers={"Range": "bytes=100-"})) as answer:
        assert (answer.status, hashlib.sha256(whole[:100] + answer.read()).hexdigest()) == (206, shown)


@pytest.mark.extended
def test_what_the_page_says_to_run_loads_the_release(
    stranger: Page, live_server: Any, study: Study, tmp_path: Path
) -> None:
    release = in_state(study, "published")
    stranger.goto(live_server.url + at("public_release", release))
    texts = str(sorted(study.responses.filter(external_id__in=["human", "model"]).values_list("text", flat=True)))
    # What datasets needs to read by HTTP, fsspec[http], it brings along where it is not installed by hand.
    for name in ("pandas", "datasets") if find_spec("aiohttp") else ("pandas",):
        line = stranger.locator(f"dt:text-is('{name}') + dd > code").text_content()
        assert line is not None
        assert printed(line, tmp_path) == texts
    everything = stranger.locator("#load-all").text_content()
    assert everything is not None
    done = subprocess.run(["bash", "-c", everything], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    line = stranger.locator("#load-folder").text_content()
    assert line is not None
    assert printed(line, tmp_path, cwd=tmp_path) == texts
    got = {str(path.relative_to(tmp_path / "tides-v1")) for path in (tmp_path / "tides-v1").rglob("*.*")}
    assert got >= {file.path for file in release.files.exclude(path__in=["LICENSE", "SHA256SUMS"])}


@pytest.mark.extended
def test_an_embargo_a_private_link_that_ends_and_somebody_who_withdraws(
    page: Page, live_server: Any, study: Study, owner: None, stranger: Page
) -> None:
    release = in_state(study, "embargoed")
    public = live_server.url + at("public_release", release)
    stranger.goto(public)
    expect(stranger.get_by_text("The files are under an embargo until")).to_be_visible()
    expect(stranger.get_by_role("link", name="README.md")).to_have_count(0)
    expect(stranger.get_by_text("Load it")).to_have_count(0)
    assert stranger.goto(f"{public}files/README.md").status == 403  # type: ignore[union-attr]
    page.goto(live_server.url + at("release", release))
    page.get_by_label("For whom").fill("Reviewers")
    page.get_by_label("Days until it ends").fill("30")
    page.get_by_role("button", name="Make a private link").click()
    link = page.locator("#made-link").text_content()
    assert link is not None
    stranger.goto(link)
    expect(stranger.get_by_text("You see this by a private link")).to_be_visible()
    expect(stranger.get_by_role("link", name="README.md")).to_be_visible()
    now = timezone.now()
    ReleaseLink.objects.update(created_at=now - timedelta(days=1), expires_at=now - timedelta(seconds=1))
    assert stranger.goto(link).status == 404  # type: ignore[union-attr]
    expect(stranger.get_by_role("heading", name="This link opens nothing")).to_be_visible()
    look(stranger, "private-ended", SCREENS + OTHERS)
    page.goto(live_server.url + at("release", release))
    page.get_by_role("button", name="Lift the embargo").click()
    page.get_by_role("dialog").get_by_role("button", name="Lift the embargo").click()
    stranger.goto(public)
    expect(stranger.get_by_role("link", name="README.md")).to_be_visible()
    withdraws(study)
    stranger.reload()
    expect(stranger.get_by_text("One person in this version has withdrawn since")).to_be_visible()
    stranger.get_by_text("parquet/ with types").click()
    taken_out = stranger.get_by_role("row", name="parquet/responses.parquet")
    expect(taken_out).to_contain_text("taken out")
    expect(taken_out.get_by_role("link")).to_have_count(0)


@pytest.mark.extended
def test_by_keyboard_alone(page: Page, live_server: Any, study: Study, owner: None) -> None:
    page.goto(f"{live_server.url}/studies/tides/releases/new/")
    tab_to(page, "Title")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Tides")
    page.keyboard.press("Enter")
    page.wait_for_url("**/releases/1/")
    tab_to(page, "Build it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("progressbar", name="Building")).to_be_visible()
    worked(study.releases.get().run)
    page.reload()
    tab_to(page, "responses")
    page.keyboard.press("Enter")  # it is open: closed, and open again
    expect(page.get_by_role("region", name="First rows of responses")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="First rows of responses")).to_be_visible()
    page.reload()
    tab_to(page, "Publish")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Enter")
    tab_to(page, "Publish")
    page.keyboard.press("Enter")
    expect(page.get_by_text("published", exact=True)).to_be_visible()
    tab_to(page, f"/releases/{study.slug}/1/")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}/releases/{study.slug}/1/")


@pytest.mark.extended
@pytest.mark.parametrize("state", PUBLIC)
def test_what_the_public_sees_is_accessible_in_each_state(
    page: Page, live_server: Any, study: Study, owner: None, state: str
) -> None:
    release = in_state(study, state)
    page.goto(live_server.url + at("public_release", release))
    look(page, f"public-{state}")
    page.goto(live_server.url + at("release", release))
    look(page, f"own-{state}", OTHERS)
    answer = (
        page.goto(live_server.url + at("public_release_file", release, "jsonl/responses.jsonl.gz"))
        if state in ("embargoed", "marked", "withdrawn")
        else None
    )
    if answer is not None:
        assert answer.status in (403, 410)
        look(page, f"gone-{state}", OTHERS)


@pytest.mark.extended
@pytest.mark.parametrize("state", OWN)
def test_what_members_see_is_accessible_in_each_state(
    page: Page, live_server: Any, study: Study, owner: None, state: str
) -> None:
    page.goto(live_server.url + at("release", in_state(study, state)))
    look(page, f"own-{state}", SCREENS if state == "ready" else SCREENS + OTHERS)
    if state == "ready":
        page.get_by_role("button", name="Make a private link").click()
        expect(page.locator("#made-link")).to_be_visible()
        look(page, "own-link", OTHERS)
        page.goto(f"{live_server.url}/studies/tides/releases/personal/")
        look(page, "findings")
    page.goto(f"{live_server.url}/studies/tides/releases/")
    look(page, f"list-{state}", OTHERS[:1])


@pytest.mark.extended
def test_empty_lists_and_a_form_with_errors_are_accessible(
    page: Page, live_server: Any, sign_in: Callable[..., Any]
) -> None:
    page.goto(live_server.url + reverse("public_releases"))
    expect(page.get_by_text("Nothing is released yet")).to_be_visible()
    look(page, "index-empty")
    assert page.goto(f"{live_server.url}/releases/nothing/1/").status == 404  # type: ignore[union-attr]
    look(page, "no-release")
    MembershipFactory(study=StudyFactory(slug="empty"), user=sign_in(), role=Role.OWNER)
    page.goto(f"{live_server.url}/studies/empty/releases/")
    look(page, "list-empty", SCREENS + OTHERS)
    page.goto(f"{live_server.url}/studies/empty/releases/personal/")
    look(page, "findings-empty", OTHERS)
    page.goto(f"{live_server.url}/studies/empty/releases/new/")
    page.get_by_label("Retrieved passages").select_option("TEXTS")
    page.get_by_label("DOI").fill("zenodo.1")
    page.get_by_role("button", name="Make a draft").click()
    expect(page.locator("#id_doi_error")).to_contain_text("A DOI begins with 10.")
    look(page, "form", SCREENS + OTHERS)

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
from playwright.sync_api import Browser, Locator, Page, expect

from analysis.models import Release, ReleaseLink
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory
from tests.pages.accessibility import OTHERS, SCREENS, look
from tests.pages.keyboard import press
from tests.pages.release_states import MAIL, TITLE, in_state, releasable, withdraws, worked

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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


def at(name: str, release: Release, *more: object) -> str:
    return reverse(name, args=[release.study.slug, release.number, *more])


def build(page: Page, study: Study) -> Release:
    """Press the button, have a worker do its work, and look again."""
    page.locator("form[action$='/build/'] button").press("Enter")
    expect(page.get_by_role("progressbar")).to_be_visible()
    release = study.releases.latest("number")
    assert release.run is not None
    worked(release.run)
    page.reload()
    expect(page.locator("[data-opens='#publish']")).to_be_visible()
    release.refresh_from_db()
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


@pytest.mark.extended
def test_a_researcher_makes_a_version_decides_and_publishes_it_by_keyboard(
    page: Page, live_server: Any, study: Study, owner: None, stranger: Page
) -> None:
    page.goto(f"{live_server.url}/studies/tides/releases/")
    press(page, page.locator(".empty a"))
    press(page, page.locator("[name=title]"), "ControlOrMeta+A")
    page.keyboard.type(TITLE)
    page.locator("[name=creators]").fill("Ada Lovelace; The University of Somewhere; 0000-0002-1825-0097")
    page.locator("[name=title]").press("Enter")
    page.wait_for_url("**/releases/1/")
    undecided = len(build(page, study).left_out)
    press(page, page.locator(f".note a[href='{reverse('personal_data_findings', args=['tides'])}']"))
    expect(page.locator("mark")).to_have_text(MAIL)
    page.get_by_role("checkbox").check()
    page.locator("#verdict-REDACT").check()
    page.locator("#verdict-REDACT").press("Enter")
    expect(page.locator("mark")).to_have_count(0)
    release = study.releases.get()
    page.goto(live_server.url + at("release", release))
    page.locator(f"a[href='{at('release_change', release)}']").press("Enter")
    page.locator("[name=title]").press("Enter")
    page.wait_for_url("**/releases/1/")
    assert len(build(page, study).left_out) == undecided - 1
    assert stranger.goto(live_server.url + at("public_release", release)).status == 404  # type: ignore[union-attr]
    publish = page.locator("#publish")
    press(page, page.locator("[data-opens='#publish']"))
    expect(publish).to_be_visible()
    page.keyboard.press("Escape")
    expect(publish).to_be_hidden()
    page.keyboard.press("Enter")
    press(page, publish.locator("[type=submit]"))
    press(page, page.locator(f"main a[href='{at('public_release', release)}']"))
    page.wait_for_url(live_server.url + at("public_release", release))
    stranger.goto(live_server.url + reverse("public_releases"))
    stranger.get_by_role("link", name=TITLE).click()
    main = stranger.get_by_role("main")
    expect(main).to_contain_text("████")
    expect(main).not_to_contain_text(MAIL)
    for shown in ("Ada Lovelace", str(timezone.now().year), TITLE):
        expect(stranger.locator("#citation")).to_contain_text(shown)


def row_of(page: Page, path: str) -> Locator:
    """The row of a file, its folder opened."""
    page.locator("summary", has=page.locator(f"code:text-is('{path.split('/', maxsplit=1)[0]}/')")).click()
    return page.locator("tr", has=page.locator(f"th:has-text('{path}')"))


def test_a_stranger_downloads_goes_on_where_it_stopped_and_checks(
    stranger: Page, live_server: Any, study: Study
) -> None:
    release = in_state(study, "published")
    stranger.goto(live_server.url + at("public_release", release))
    row = row_of(stranger, "parquet/responses.parquet")
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
    readme = stranger.get_by_role("link", name="README.md")
    stranger.goto(public)
    expect(readme).to_have_count(0)
    expect(stranger.locator("#use-title")).to_have_count(0)
    assert stranger.goto(f"{public}files/README.md").status == 403  # type: ignore[union-attr]
    page.goto(live_server.url + at("release", release))
    link_form = page.locator("form[action$='/links/']")
    link_form.locator("[name$=label]").fill("Reviewers")
    link_form.locator("[name$=days]").fill("30")
    link_form.locator("[type=submit]").click()
    link = str(page.locator("#made-link").text_content())
    stranger.goto(link)
    expect(readme).to_be_visible()
    now = timezone.now()
    ReleaseLink.objects.update(created_at=now - timedelta(days=1), expires_at=now - timedelta(seconds=1))
    assert stranger.goto(link).status == 404  # type: ignore[union-attr]
    assert look(stranger, SCREENS) == []
    page.goto(live_server.url + at("release", release))
    page.locator("[data-opens='#embargo']").click()
    page.locator("#embargo [type=submit]").click()
    expect(page.locator("#embargo")).to_have_count(0)
    stranger.goto(public)
    expect(readme).to_be_visible()
    withdraws(study)
    stranger.reload()
    expect(stranger.locator(".note--warn")).to_be_visible()
    taken_out = row_of(stranger, "parquet/responses.parquet")
    expect(taken_out.locator("del")).to_be_visible()
    expect(taken_out.get_by_role("link")).to_have_count(0)


@pytest.mark.extended
@pytest.mark.parametrize(
    "state", ["draft", "building", "failed", "ready", "published", "embargoed", "marked", "withdrawn"]
)
def test_each_state_is_accessible(page: Page, live_server: Any, study: Study, owner: None, state: str) -> None:
    release = in_state(study, state)
    page.goto(live_server.url + at("release", release))
    found = look(page) + look(page, OTHERS)
    if state in ("published", "embargoed", "marked", "withdrawn"):
        page.goto(live_server.url + at("public_release", release))
        found += look(page)
    if state in ("embargoed", "marked", "withdrawn"):
        answer = page.goto(live_server.url + at("public_release_file", release, "jsonl/responses.jsonl.gz"))
        assert answer is not None
        assert answer.status in (403, 410)
        found += look(page, OTHERS)
    if state == "ready":
        page.locator("form[action$='/links/'] [type=submit]").click()
        expect(page.locator("#made-link")).to_be_visible()
        found += look(page, OTHERS)
        page.goto(f"{live_server.url}/studies/tides/releases/personal/")
        found += look(page)
    page.goto(f"{live_server.url}/studies/tides/releases/")
    assert found + look(page, OTHERS[:1]) == []


@pytest.mark.extended
def test_empty_lists_and_a_form_with_errors_are_accessible(
    page: Page, live_server: Any, sign_in: Callable[..., Any]
) -> None:
    MembershipFactory(study=StudyFactory(slug="empty"), user=sign_in(), role=Role.OWNER)
    own = "/studies/empty/releases/"
    found = []
    for path in ("/releases/", "/releases/nothing/1/", own, f"{own}personal/", f"{own}new/"):
        page.goto(live_server.url + path)
        found += look(page)
    page.locator("[name=doi]").fill("zenodo.1")
    page.locator("[name=title]").press("Enter")
    expect(page.locator("#id_doi_error")).to_be_visible()
    assert found + look(page, SCREENS) == []

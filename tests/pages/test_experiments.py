"""A researcher runs an experiment: the estimate follows the form, then the start, progress, the result, comparison."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from analysis.experiments import index_runs, retrievers
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint
from crowdrag.studies.enums import Role
from tests.analysis.experiments import planted
from tests.analysis.experiments.question_study import furnish
from tests.factories import MembershipFactory, StudyFactory
from tests.llm.conftest import server  # noqa: F401 - a fixture
from tests.pages.accessibility import SCREENS, look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _experiment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One experiment whose result is known, and nobody to wake."""
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
    planted.install(monkeypatch)
    return


@pytest.fixture
def odd(server: Any, transactional_db: None) -> Endpoint:  # noqa: F811
    """An endpoint that answers as its questions say, for money."""
    return Endpoint.objects.create(
        name="odd", base_url=server.url, model="m", is_local=True, is_allowed=True, timeout=5, max_tokens=50,
        input_price=1000, output_price=2000,
    )  # fmt: skip


def run_to_the_result(page: Page, live_server: Any, sign_in: Any) -> list[str]:
    """Start an experiment from the study's page, and follow it until its tables are there; return what axe says."""
    user = sign_in()
    study = furnish(StudyFactory(slug="tides", llm_budget=1_000_000))
    MembershipFactory(study=study, user=user, role=Role.EDITOR)
    page.goto(f"{live_server.url}/studies/tides/")
    page.locator("nav a[href$='/experiments/']").first.click()
    expect(page.locator("#experiment-planted")).to_be_visible()
    found = look(page)

    page.locator("#experiment-planted a[href*='/new/']").first.click()
    expect(page.locator("#experiment")).to_be_visible()
    found += look(page)
    # The cost estimate follows the form without a button.
    page.get_by_label("Maximum questions").fill("3")
    page.get_by_label("Maximum questions").blur()
    figures = page.locator("#estimate .figure-number")
    expect(figures.filter(has_text="Calls")).to_contain_text("6")
    page.get_by_label("Documents").fill("9")
    page.get_by_label("Documents").blur()
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    page.get_by_label("Documents").fill("2")
    page.get_by_label("Maximum questions").fill("0")
    page.get_by_label("Maximum questions").blur()
    expect(figures.filter(has_text="Calls")).to_contain_text("10")
    found += look(page, SCREENS)

    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/runs/**")
    run = Run.objects.get(kind="experiment.planted")
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.goto(f"{live_server.url}/studies/tides/experiments/{run.key}/")
    found += look(page)
    assert lifecycle.wait(run).state == "DONE"
    # The page hears of the end by itself.
    expect(page.locator("table").get_by_text("with documents")).to_be_visible(timeout=20_000)
    expect(page.locator("figure img")).to_have_js_property("complete", True)
    found += look(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    assert download.value.suggested_filename == "tides-planted_scores.csv"
    return found


def test_from_the_start_to_the_result(page: Page, live_server: Any, sign_in: Any, odd: Endpoint) -> None:
    assert run_to_the_result(page, live_server, sign_in) == []


@pytest.mark.extended
@pytest.mark.timeout(600)
def test_a_run_is_made_again_and_compared(page: Page, live_server: Any, sign_in: Any, odd: Endpoint) -> None:
    found = run_to_the_result(page, live_server, sign_in)
    page.get_by_role("link", name="Run again with changes").click()
    page.get_by_label("Documents").fill("1")
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#estimate")).to_be_focused()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/runs/**")
    second = lifecycle.wait(Run.objects.latest("pk"))
    page.goto(f"{live_server.url}/studies/tides/experiments/")
    page.get_by_label("Earlier:").last.check()
    page.get_by_label("Later:").first.check()
    found += look(page)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("row", name="Documents 2 1")).to_be_visible()
    assert str(second.key) in page.url
    found += look(page)

    page.goto(f"{live_server.url}/studies/tides/experiments/")
    for box in page.get_by_label("Side by side:").all():
        box.check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("row", name="with documents Exact match")).to_be_visible()
    found += look(page)
    assert found == []


@pytest.mark.extended
def test_a_study_lists_its_search_indexes_and_deletes_one(
    page: Page, live_server: Any, sign_in: Any, settings: Any, tmp_path: Path
) -> None:
    settings.INDEX_ROOT = tmp_path / "indexes"
    study = StudyFactory(slug="tides")
    MembershipFactory(study=study, user=sign_in(), role=Role.EDITOR)
    corpus = tmp_path / "a-corpus-with-a-rather-long-name-2018.jsonl"
    corpus.write_text('{"id": "a", "contents": "The tide follows the moon."}\n')
    call_command("index", corpus, study="tides")
    index_runs.start(index_runs.order("bm25?k1=0.9&b=0.4", corpus), corpus, study=study)
    page.goto(f"{live_server.url}/studies/tides/experiments/")
    page.get_by_role("link", name="Search indexes").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    assert look(page, SCREENS) == []
    rows.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert look(page, SCREENS) == []
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(1)
    assert retrievers.library().entries() == []

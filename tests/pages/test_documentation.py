"""The documentation site in a browser: nothing comes from elsewhere, and its search finds."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.pages.tokens import ROOT


@pytest.mark.browser
@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_the_site_works_under_the_policy_of_all_pages(
    live_server: Any, page: Page, tmp_path: Path, settings: Any
) -> None:
    settings.DOCS_ROOT = tmp_path / "docs"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(settings.DOCS_ROOT)]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True)
    elsewhere: list[str] = []
    page.on(
        "request", lambda request: None if request.url.startswith(live_server.url) else elsewhere.append(request.url)
    )
    page.goto(f"{live_server.url}/docs/")
    page.get_by_role("link", name="Glossary").first.click()
    page.locator(".md-search__input").click()
    page.keyboard.type("krippendorff")
    page.locator(".md-search-result__item", has_text="Agreement").first.wait_for()
    assert elsewhere == []

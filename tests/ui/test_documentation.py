"""The documentation site as the product serves it."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver

from crowdrag.ui import documentation

DOCS = Path(settings.BASE_DIR) / "docs"


@pytest.fixture
def site(tmp_path: Path, settings: Any) -> Path:
    """A built site with two pages."""
    root = tmp_path / "site"
    (root / "guides" / "import").mkdir(parents=True)
    (root / "index.html").write_text("<h1>Home</h1>")
    (root / "guides" / "import" / "index.html").write_text("<h1>Importing</h1>")
    (root / "site.css").write_text("h1 {}")
    (tmp_path / "secret.txt").write_text("secret")
    settings.DOCS_ROOT = root
    return root


def body(address: str) -> bytes:
    response = Client().get(address)
    assert response.status_code == 200
    return b"".join(response.streaming_content)  # type: ignore[attr-defined]


def test_files_are_served_with_their_type_and_the_policy(site: Path) -> None:
    assert body("/docs/") == b"<h1>Home</h1>"
    assert body("/docs/guides/import/") == b"<h1>Importing</h1>"
    response = Client().get("/docs/site.css")
    assert response["Content-Type"].startswith("text/css")
    assert response["Cache-Control"] == "no-cache"
    assert "unsafe-inline" not in response["Content-Security-Policy"]


def test_a_folder_without_its_slash_is_redirected(site: Path) -> None:
    assert Client().get("/docs/guides/import")["Location"] == "/docs/guides/import/"


@pytest.mark.parametrize("path", ["nothing/", "../secret.txt", "%2e%2e/secret.txt", "/etc/passwd", "guides/"])
def test_nothing_outside_the_site_is_served(site: Path, path: str) -> None:
    assert Client().get(f"/docs/{path}").status_code == 404


def test_without_a_built_site_a_page_says_how_to_build_it(tmp_path: Path, settings: Any) -> None:
    settings.DOCS_ROOT = tmp_path / "nothing"
    response = Client().get("/docs/guides/import/")
    assert response.status_code == 404
    assert b"make docs" in response.content


def test_every_guide_that_a_page_links_is_there_and_is_of_a_page() -> None:
    paths = {page.strip("/") for page in documentation.GUIDES.values()}
    assert (
        sorted(
            path for path in paths if not any((DOCS / name).is_file() for name in (f"{path}.md", f"{path}/index.md"))
        )
        == []
    )
    names = {str(name) for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert sorted(start for start in documentation.GUIDES if not any(name.startswith(start) for name in names)) == []


def test_the_longest_beginning_of_a_name_decides() -> None:
    assert documentation.url("campaign_checks_add") == "/docs/guides/screening/"
    assert documentation.url("campaign_edit") == "/docs/guides/running-a-campaign/"
    assert documentation.url("home") == documentation.url(None) == "/docs/"

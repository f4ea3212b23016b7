"""Whether static files are collected anew follows from what they hold."""

import os
from pathlib import Path

import pytest
from django.test import override_settings

from crowdrag.runtime.prepare import collect, static_digest


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "page.css").write_text("a { color: red }")
    return folder


def test_an_image_that_came_through_a_registry_collects_nothing_anew(source: Path, tmp_path: Path) -> None:
    """There files lose fractions of a second of their times, and a container's file system is not written to."""
    target = tmp_path / "static"
    with override_settings(
        STATICFILES_DIRS=[source],
        STATIC_ROOT=target,
        STORAGES={"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}},
    ):
        collect(target)
        assert (target / "page.css").exists()
        (target / "page.css").unlink()
        os.utime(source / "page.css", (1_700_000_000, 1_700_000_000))
        collect(target)
        assert not (target / "page.css").exists()


def test_another_text_of_the_same_length_at_the_same_time_is_collected(source: Path) -> None:
    with override_settings(STATICFILES_DIRS=[source]):
        first, times = static_digest(), (source / "page.css").stat()
        (source / "page.css").write_text("a { color: tan }")
        os.utime(source / "page.css", ns=(times.st_atime_ns, times.st_mtime_ns))
        assert static_digest() != first
        second = static_digest()
        # What no page asks for is not collected.
        (source / "page.css.map").write_text("{}")
        assert static_digest() == second

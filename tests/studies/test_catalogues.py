"""The catalogues of participants' pages: complete, compiled, and with the placeholders of the English texts."""

import gettext
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
LOCALE = Path(settings.LOCALE_PATHS[0])
LANGUAGES = sorted(code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE)
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd%]|\{\w+\}|</?[a-z]+[^>]*>")


def path_of(language: str, suffix: str = "po") -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"django.{suffix}"


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def messages(language: str) -> list[Message]:
    return [message for message in read(path_of(language)) if message.id]


def texts(value: str | tuple[str, ...] | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_with_its_placeholders(language: str) -> None:
    catalogue = read(path_of(language))
    assert not catalogue.obsolete
    wrong = []
    for message in messages(language):
        originals, translations = texts(message.id), texts(message.string)
        if message.fuzzy or not all(translations):
            wrong.append(f"not translated: {originals[0]}")
            continue
        for original, translation in zip(originals, translations, strict=True):
            # The singular may say "one" where the plural has a number.
            wanted = set(PLACEHOLDER.findall(original)) | set(PLACEHOLDER.findall(originals[-1]))
            found = PLACEHOLDER.findall(translation)
            if not set(PLACEHOLDER.findall(original)) <= set(found) or not set(found) <= wanted:
                wrong.append(f"other placeholders: {translation}")
            edges = [(text[:1].isspace(), text[-1:].isspace()) for text in (original, translation)]
            if edges[0] != edges[1]:
                wrong.append(f"other spaces at its ends: {translation}")
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_catalogue_is_compiled(language: str) -> None:
    with path_of(language, "mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for message in messages(language):
        originals, translations = texts(message.id), texts(message.string)
        if len(originals) == 1:
            context = message.context
            found = compiled.pgettext(context, originals[0]) if context else compiled.gettext(originals[0])
            assert found == translations[0]
        else:
            forms = [compiled.ngettext(*originals, n) for n in (1, 2)]
            assert forms == translations, originals


def test_all_languages_have_the_same_texts() -> None:
    first, *others = [{str(message.id) for message in messages(language)} for language in LANGUAGES]
    assert [other ^ first for other in others] == [set()] * len(others)


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="needs GNU gettext")
def test_every_marked_text_is_in_the_catalogues(tmp_path: Path) -> None:
    """As `make messages` finds them. A text that nobody marks is found in test_page_language.py."""
    for name in ("crowdrag", "annotation", "writing", "analysis", "templates"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("locale", "__pycache__"))
    (tmp_path / "locale").mkdir()
    command = [sys.executable, "-m", "django", "makemessages", "--locale=de", "--no-location"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env={"PATH": "/usr/bin:/bin:/usr/local/bin"})
    marked = {str(message.id) for message in read(tmp_path / "locale/de/LC_MESSAGES/django.po") if message.id}
    known = {str(message.id) for message in messages("de")}
    assert (sorted(marked - known), sorted(known - marked)) == ([], [])

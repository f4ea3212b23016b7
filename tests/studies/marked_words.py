"""Words of a page that are in no catalogue: found by a stand-in language whose every translation is bracketed."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser

from django.utils.translation import trans_real

OPEN, CLOSE = "\u27e6", "\u27e7"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Names of keys, addresses and codes are the same in every language.
SAME = {"kbd", "code"}
READ_ALOUD = ("aria-label", "title", "placeholder", "alt", "aria-description", "data-confirm")
WORD = re.compile(r"[^\W\d_]{2,}")


@contextmanager
def bracketed(language: str) -> Iterator[None]:
    """Let every translation into a language be the English text in brackets."""
    catalogue = trans_real.translation(language)

    def gettext(text: str) -> str:
        return OPEN + text.rsplit("\x04", maxsplit=1)[-1] + CLOSE

    def ngettext(one: str, many: str, n: int) -> str:
        return gettext(one if n == 1 else many)

    catalogue.gettext, catalogue.ngettext = gettext, ngettext  # type: ignore[method-assign]
    try:
        yield
    finally:
        del catalogue.gettext, catalogue.ngettext  # type: ignore[attr-defined]


def outside(text: str) -> str:
    """Return what of a text is in no brackets."""
    depth, found = 0, []
    for letter in text:
        depth += (letter == OPEN) - (letter == CLOSE)
        if not depth and letter != CLOSE:
            found.append(letter)
    return "".join(found)


class _Page(HTMLParser):
    """Collects the text of a page and what is read aloud, without what a study's people wrote (marked with `lang`)."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.attributes: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_left_out = bool(self.open and self.open[-1][1]) or ("lang" in values and tag != "html") or tag in SAME
        if not is_left_out:
            self.attributes += [values[name] or "" for name in READ_ALOUD if name in values]
        if values.get("type") in {"submit", "button"} and tag == "input":
            self.attributes.append(values.get("value") or "")
        if tag not in VOID:
            kind = values.get("type") if tag == "script" else None
            self.open.append((f"script {kind}" if tag == "script" else tag, is_left_out))

    def handle_endtag(self, tag: str) -> None:
        while self.open and tag not in VOID:
            name, _ = self.open.pop()
            if name.split()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        tag, is_left_out = self.open[-1] if self.open else ("", False)
        if tag == "script application/json":
            self.scripts.append(data)
        elif not is_left_out and not tag.startswith(("script", "style")):
            self.texts.append(data)


def unmarked_words(html: str, known: set[str]) -> list[str]:
    """Return the pieces of text on a page that were not translated.

    Parameters
    ----------
    html
        a page that was made within `bracketed`.
    known
        texts that are no words of the page: the study's title and its people's names.
    """
    page = _Page()
    page.feed(html)
    pieces = outside("\n".join(page.texts)).splitlines()
    pieces += [line for text in page.attributes for line in outside(text).splitlines()]
    for script in page.scripts:
        messages = json.loads(script)
        if isinstance(messages, dict) and all(isinstance(text, str) for text in messages.values()):
            pieces += [outside(text) for text in messages.values()]
    for each in known:
        pieces = [piece.replace(each, "") for piece in pieces]
    return [piece.strip() for piece in pieces if WORD.search(piece)]

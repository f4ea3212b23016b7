"""Outputs as text: what HTML and PDF say, line by line, without how it looks."""

import re
from html.parser import HTMLParser
from io import BytesIO
from typing import Any

from pypdf import PageObject, PdfReader

_BLOCKS = {
    "address", "article", "aside", "body", "br", "caption", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "legend",
    "li", "main", "nav", "ol", "option", "p", "pre", "section", "select", "summary", "table", "tbody", "tfoot", "thead",
    "title", "tr", "ul",
}  # fmt: skip
_CELLS = {"td", "th"}
#: Charts are golden as specifications; scripts and styles say nothing to people.
_SKIPPED = {"script", "style", "svg", "template"}
#: Attributes that are read out, or stand in a field.
_SAID = ("alt", "aria-label", "placeholder", "value")


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self._skipped += 1
            said = dict(attrs).get("aria-label")
            self.parts.append(f"\n[{said}]\n" if said else "")
        if self._skipped:
            return
        if tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append(" | ")
        given = dict(attrs)
        if given.get("type") == "hidden":  # tokens
            return
        self.parts += [f" [{given[name]}] " for name in _SAID if given.get(name)]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(re.sub(r"\s+", " ", data))


def html(content: bytes) -> str:
    """Return what an HTML document says: a line for each block and each row of a table, cells between bars."""
    parser = _Text()
    parser.feed(content.decode())
    parser.close()
    lines = (re.sub(r"\s+", " ", line).strip(" |") for line in "".join(parser.parts).split("\n"))
    return "".join(f"{line}\n" for line in lines if line)


def pdf(content: bytes) -> str:
    """Return what the pages of a PDF by Typst say, a line for each line of text.

    Letters inside of charts are left out: they are in fonts of the machine.
    """
    pages = (_page(page) for page in PdfReader(BytesIO(content)).pages)
    text = "".join(f"--- page {number}\n{text}" for number, text in enumerate(pages, start=1))
    # Where a word is divided depends on the width of the keys in its line, which are drawn anew in each run.
    return re.sub(r"(\w)-\n(\w\S*) ?", r"\1\2\n", text)


def _page(page: PageObject) -> str:
    # Graphics states are nested: a page has its own texts in the outermost, charts have theirs deeper.
    depth = 0
    parts: list[str] = []

    def nest(operator: bytes, *_: Any) -> None:
        nonlocal depth
        depth += (operator == b"q") - (operator == b"Q")

    def keep(text: str, *_: Any) -> None:
        if depth <= 1:
            parts.append(text)

    page.extract_text(visitor_operand_before=nest, visitor_text=keep)
    lines = (re.sub(r"\s+", " ", line.replace("\u200b", "")).strip() for line in "".join(parts).split("\n"))
    return "".join(f"{line}\n" for line in lines if line)


def chart(content: str) -> str:
    """A Vega-Lite specification whose data are named by number: their own names are digests of unrounded numbers."""
    names = dict.fromkeys(re.findall(r'"name":\s*"(data-[0-9a-f]{32})"', content))
    for number, name in enumerate(names, start=1):
        content = content.replace(name, f"data-{number}")
    return content

"""Outputs as text: what HTML and PDF say, line by line, without how it looks."""

import re
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser

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


_OBJECT = re.compile(rb"(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
_REFERENCE = rb"\s*(\d+) 0 R"
#: A word of a page's program: an operand, an operator, or the beginning of a string.
_WORD = re.compile(rb"\(|/?[^\s()\[\]<>/]+")
#: How deep in its program a page has its own texts; those of charts are deeper.
OF_THE_PAGE = 1
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def pdf(content: bytes) -> str:
    """Return what the pages of a PDF by Typst say, a line for each line of text.

    Letters inside of charts are left out: they are in fonts of the machine.
    """
    objects = {int(number): body for number, body in _OBJECT.findall(content)}
    kids = re.search(rb"/Type/Pages.*?/Kids\[(.*?)\]", content, re.DOTALL)
    assert kids, "The PDF has no pages"
    pages = [_page(objects, int(number)) for number in re.findall(_REFERENCE, kids[1])]
    return "".join(f"--- page {number}\n{text}" for number, text in enumerate(pages, start=1))


def _page(objects: dict[int, bytes], number: int) -> str:
    resources = objects[_referred(objects[number], b"Resources")]
    named = re.search(rb"/Font<<(.*?)>>", resources, re.DOTALL)
    fonts = {
        name: _letters(_stream(objects[_referred(objects[int(font)], b"ToUnicode")]))
        for name, font in re.findall(rb"/(f\d+)" + _REFERENCE, named[1] if named else b"")
    }
    lines: list[list[str]] = []
    height, at, font, depth = None, None, b"", 0
    words: list[bytes] = []
    strings: list[bytes] = []
    for word, is_string in _words(_stream(objects[_referred(objects[number], b"Contents")])):
        if is_string:
            strings.append(word)
        elif word in {b"q", b"Q"}:
            depth += 1 if word == b"q" else -1
        elif word == b"BT":
            strings = []  # what was said before is about the text, such as its language
        elif word == b"cm":
            at = round(float(words[-1]))
        elif word == b"Tf":
            font = words[-2].removeprefix(b"/")
        elif word in {b"Tj", b"TJ"} and depth == OF_THE_PAGE:
            if at != height or not lines:
                lines.append([])
                height = at
            glyphs = b"".join(strings)
            pairs = (glyphs[place : place + 2] for place in range(0, len(glyphs), 2))
            lines[-1].append("".join(fonts[font].get(pair, "\ufffd") for pair in pairs))
            strings = []
        words = [*words[-2:], word]
    texts = (re.sub(r"\s+", " ", " ".join(line).replace("\u200b", "")).strip() for line in lines)
    return "".join(f"{text}\n" for text in texts if text)


def _words(program: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the words of a page's program, and its strings as what they say; with each whether it is a string."""
    place = 0
    while found := _WORD.search(program, place):
        place = found.end()
        if found[0] != b"(":
            yield found[0], False
            continue
        depth, start = 1, place
        while depth:
            letter = program[place : place + 1]
            depth += (letter == b"(") - (letter == b")")
            place += 2 if letter == b"\\" else 1
        yield _unescaped(program[start : place - 1]), True


def _referred(body: bytes, key: bytes) -> int:
    found = re.search(b"/" + key + _REFERENCE, body)
    assert found, f"There is no {key.decode()} in this object of a PDF"
    return int(found[1])


def _stream(body: bytes) -> bytes:
    head, _mark, rest = body.partition(b"stream")
    length = re.search(rb"/Length (\d+)", head)
    assert length
    data = rest.removeprefix(b"\r").removeprefix(b"\n")[: int(length[1])]
    return zlib.decompress(data) if b"FlateDecode" in head else data


def _letters(cmap: bytes) -> dict[bytes, str]:
    """Read which letters the glyphs of a font stand for."""
    found = {}
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", cmap, re.DOTALL):
        for glyph, letters in re.findall(rb"<(\w+)>\s*<(\w+)>", block):
            found[bytes.fromhex(glyph.decode())] = bytes.fromhex(letters.decode()).decode("utf-16-be")
    return found


def _unescaped(text: bytes) -> bytes:
    def letter(found: re.Match[bytes]) -> bytes:
        code = found[1]
        if code[:1].isdigit():
            return bytes([int(code, 8) & 255])
        return b"" if code.endswith(b"\n") else _LETTERS.get(code, code)

    return _ESCAPE.sub(letter, text)

"""Documents that leave the system: safe text, SVG reduced to graphics, and PDF.

Texts are passed as data and are never parsed as markup. Files only depend on their inputs, which include the time.
Fonts are those included with Typst, and for other scripts (Arabic, Chinese, emoji) those of this machine. A character
that no font has is shown by its code point, `[U+4E2D]`, and is never omitted; HTML, CSV and JSON contain the character
itself.
"""

import json
import re
import unicodedata
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

#: Unicode categories of invisible characters, and of those that change the text direction.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
#: Exceptions that join or shape letters of real scripts and emoji; after an ASCII letter they have no visible effect.
_SHAPING = {"\u200c", "\u200d"}
#: Longer words may break after this many characters, so that an ID does not push a table off the page.
LONGEST_WORD = 14
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
_LONG = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def short(name: str) -> str:
    """Shorten a UUID to its first group, which is usually unique; other IDs are unchanged."""
    return f"{name[:8]}…" if _UUID.match(name) else name


def visible(text: str) -> str:
    """Replace invisible and direction-changing characters by their code points: [U+202E].

    Texts in studies are not trusted: a name must not imitate another one, or reorder a line.
    """
    if text.isprintable():  # then it has none of these characters
        return text
    return "".join(_shown(character, before) for before, character in zip(" " + text, text, strict=False))


def _shown(character: str, before: str) -> str:
    if character in {"\n", "\r", "\t"}:
        return " "
    if character in _SHAPING and not before.isascii():
        return character
    return code(character) if unicodedata.category(character) in _UNSEEN else character


def code(character: str) -> str:
    """Return the code point of a character."""
    return f"[U+{ord(character):04X}]"


def breakable(text: str) -> str:
    """Allow breaks in words longer than a column, with a zero-width space after every few letters."""
    return _LONG.sub(lambda match: "\u200b".join(_pieces(match[0])), text)


def _pieces(word: str) -> list[str]:
    return [word[at : at + LONGEST_WORD] for at in range(0, len(word), LONGEST_WORD)]


_SVG = "http://www.w3.org/2000/svg"
_ELEMENTS = {"g", "path", "rect", "line", "circle", "text", "tspan", "defs", "clipPath", "linearGradient", "stop"}
_ATTRIBUTES = {
    "id", "width", "height", "viewBox", "transform", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r",
    "rx", "ry", "points", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
    "stroke-miterlimit", "stroke-opacity", "stroke-linecap", "stroke-linejoin", "opacity", "clip-path", "offset",
    "stop-color", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline",
}  # fmt: skip
_LOCAL = re.compile(r"url\(#([^)]*)\)")


def clean_svg(svg: str, *, prefix: str, alt: str) -> str:
    """Reduce an SVG to elements and attributes that are known to be harmless.

    Its IDs get the prefix `prefix`, so that several can share a page; `alt` is the text alternative.

    Raises
    ------
    ValueError
        If it is not an SVG.
    """
    ET.register_namespace("", _SVG)
    root = ET.fromstring(svg)  # noqa: S314 -- drawn by ourselves; no entity, no DTD
    if root.tag != f"{{{_SVG}}}svg":
        raise ValueError("This is no SVG.")
    _sift(root, prefix)
    root.set("role", "img")
    root.set("aria-label", alt)
    return ET.tostring(root, encoding="unicode")


def _sift(element: ET.Element, prefix: str) -> None:
    for child in list(element):
        name = str(child.tag).removeprefix(f"{{{_SVG}}}")
        if name in _ELEMENTS:
            _sift(child, prefix)
        else:
            element.remove(child)
    for key, value in list(element.attrib.items()):
        if key not in _ATTRIBUTES or (local := _local_reference(value, prefix)) is None:
            del element.attrib[key]
        else:
            element.set(key, f"{prefix}-{value}" if key == "id" else local)
    element.text = visible(element.text) if element.text else None
    element.tail = None if element.tail is None or not element.tail.strip() else visible(element.tail)


def _local_reference(value: str, prefix: str) -> str | None:
    """Rename the ID in `url(#id)`; return None for references to anything else."""
    local = _LOCAL.sub(partial(_renamed, prefix), value)
    return None if "url(" in _LOCAL.sub("", local) or "javascript:" in value.lower() else local


def _renamed(prefix: str, match: re.Match[str]) -> str:
    return f"url(#{prefix}-{match[1]})"


if TYPE_CHECKING:
    from typst import PDFStandard

#: PDF/A-2a for archives and PDF/UA for screen readers: every character has a glyph and can be copied, and every figure
#: has a text alternative. In complex scripts (Arabic, Hindi) some characters cannot be copied: PDF/A-2b, which only
#: preserves the appearance.
STANDARDS: "tuple[list[PDFStandard], ...]" = (["a-2a", "ua-1"], ["a-2b"])
FONTS = ["Libertinus Serif"]
_MISSING = re.compile(r"the text `\"(.*?)\"` could not be displayed", re.DOTALL)
_ESCAPED = re.compile(r"\\u\{([0-9a-f]+)\}")
_UNCOPIED = "missing codepoints"
_ATTEMPTS = 20
#: Constant time, because an image has none of its own.
_ALWAYS = datetime(2000, 1, 1, tzinfo=UTC)
_PICTURE = b"""
#let it = json(bytes(sys.inputs.data))
#set document(title: it.alt, date: datetime(year: 2000, month: 1, day: 1))
#set page(width: auto, height: auto, margin: 0pt)
#set text(lang: "en", font: it.fonts)
#image(bytes(it.svg), format: "svg", alt: it.alt)
"""


class CannotSetError(RuntimeError):
    """The document cannot be typeset: the source is wrong, not the data."""


def picture_pdf(svg: str, *, alt: str) -> bytes:
    """Convert an SVG to a PDF of its size."""
    data = {"alt": alt, "svg": clean_svg(svg, prefix="picture", alt=alt), "fonts": FONTS}
    return compile_pdf(_PICTURE, data, at=_ALWAYS)


def compile_pdf(source: bytes, data: dict[str, Any], *, at: datetime) -> bytes:
    """Typeset a document from its Typst source, which reads `data` as JSON from `sys.inputs.data`.

    Raises
    ------
    CannotSetError
        If Typst rejects the source.
    """
    written = json.dumps(data, ensure_ascii=False)
    problem = ""
    for standards in STANDARDS:
        for _attempt in range(_ATTEMPTS):
            document, problem = _compiled(source, written, at, standards)
            if document is not None:
                return document
            lacking = _undrawable(problem)
            if not lacking:
                break
            written = "".join(code(character) if character in lacking else character for character in written)
        if _UNCOPIED not in problem:
            break
    raise CannotSetError(problem)


def _compiled(source: bytes, written: str, at: datetime, standards: "list[PDFStandard]") -> tuple[bytes | None, str]:
    """Return the document, or Typst's error."""
    import typst  # imported only to write a PDF

    inputs, time = {"data": written}, int(at.timestamp())
    try:
        document = typst.compile(source, format="pdf", sys_inputs=inputs, timestamp=time, pdf_standards=standards)
    except typst.TypstError as error:
        return None, f"{error.message}\n{error.diagnostic}"
    return bytes(document), ""


def _undrawable(problem: str) -> set[str]:
    """Return the characters that no font has, from Typst's error."""
    texts = (_ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) for text in _MISSING.findall(problem))
    return {letter for text in texts for letter in text if ord(letter) > 127}

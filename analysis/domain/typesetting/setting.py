"""PDF by Typst (docs/adr/0018-reports.md).

Texts go in as data and are never read as markup. What makes a file depends on what goes in alone: its time is given.
Fonts are those that Typst brings; for letters that they lack (Arabic, Chinese, emoji), those of this machine. A letter
that no font here can draw is named by its number, `[U+4E2D]`, never left out; HTML, CSV and JSON hold it as it is.
"""

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .characters import code
from .pictures import clean

if TYPE_CHECKING:
    from typst import PDFStandard

#: For archives (PDF/A-2a) and for screen readers (PDF/UA): every letter has a glyph and can be copied, every picture
#: has a text. Where shaped scripts (Arabic, Hindi) let a letter not be copied, PDF/A-2b, which asks for looks alone.
STANDARDS: "tuple[list[PDFStandard], ...]" = (["a-2a", "ua-1"], ["a-2b"])
FONTS = ["Libertinus Serif"]
_MISSING = re.compile(r"the text `\"(.*?)\"` could not be displayed", re.DOTALL)
_ESCAPED = re.compile(r"\\u\{([0-9a-f]+)\}")
_UNCOPIED = "missing codepoints"
_ATTEMPTS = 20
#: A picture has no time of its own.
_ALWAYS = datetime(2000, 1, 1, tzinfo=UTC)
_PICTURE = b"""
#let it = json(bytes(sys.inputs.data))
#set document(title: it.alt, date: datetime(year: 2000, month: 1, day: 1))
#set page(width: auto, height: auto, margin: 0pt)
#set text(lang: "en", font: it.fonts)
#image(bytes(it.svg), format: "svg", alt: it.alt)
"""


class CannotSetError(RuntimeError):
    """A document cannot be set: the source is wrong, not the data."""


def picture(svg: str, *, alt: str) -> bytes:
    """Write an SVG as a PDF of its size."""
    data = {"alt": alt, "svg": clean(svg, prefix="picture", alt=alt), "fonts": FONTS}
    return document(_PICTURE, data, at=_ALWAYS)


def document(source: bytes, data: dict[str, Any], *, at: datetime) -> bytes:
    """Set a document from its Typst source, which finds `data` as JSON in `sys.inputs.data`.

    Raises
    ------
    CannotSetError
        If Typst refuses the source.
    """
    written = json.dumps(data, ensure_ascii=False)
    problem = ""
    for standards in STANDARDS:
        for _attempt in range(_ATTEMPTS):
            made, problem = _compiled(source, written, at, standards)
            if made is not None:
                return made
            lacking = _undrawable(problem)
            if not lacking:
                break
            written = "".join(code(each) if each in lacking else each for each in written)
        if _UNCOPIED not in problem:
            break
    raise CannotSetError(problem)


def _compiled(source: bytes, written: str, at: datetime, standards: "list[PDFStandard]") -> tuple[bytes | None, str]:
    """The document, or what Typst has to say."""
    import typst  # only those who write a PDF load it

    inputs, time = {"data": written}, int(at.timestamp())
    try:
        made = typst.compile(source, format="pdf", sys_inputs=inputs, timestamp=time, pdf_standards=standards)
    except typst.TypstError as error:
        return None, f"{error.message}\n{error.diagnostic}"
    return bytes(made), ""


def _undrawable(said: str) -> set[str]:
    """Which letters Typst says that no font has."""
    texts = (_ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) for text in _MISSING.findall(said))
    return {letter for text in texts for letter in text if ord(letter) > 127}

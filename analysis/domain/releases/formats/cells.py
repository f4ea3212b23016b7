"""Texts as a spreadsheet may open them: no cell begins a formula, and what was done can be undone.

A spreadsheet takes a cell that begins with =, +, - or @ for a formula, whoever wrote it. Spreadsheets that are set to
semicolons or tabs split texts at these, and at line ends, whatever is quoted; so a cell may begin there too. Wherever
one may begin, and what follows would be a formula, an apostrophe goes in front. A text that begins with an apostrophe
gets one more, so that whoever takes one away has the text as it was. Other formats hold texts as they are.
"""

import re

import pyarrow as pa
import pyarrow.compute as pc

# In the syntax that Python's re and Arrow's RE2 share.
_SIGNS = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
# What spreadsheets pass over, or what is not to be seen; quotation marks, which some split at wrongly.
_PASSED_OVER = (
    '[ "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\xa0\\xad\u1680\u180e'
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]*"
)
_WITHIN = f"([;\\t\\r\\n])('*{_PASSED_OVER}{_SIGNS})"
_FIRST = f"\\A('|[\\t\\r\\n]|{_PASSED_OVER}{_SIGNS})"
_within = re.compile(_WITHIN)
_first = re.compile(_FIRST)
_added = re.compile(f"([;\\t\\r\\n])'('*{_PASSED_OVER}{_SIGNS})")


def safe(text: str) -> str:
    """Return a text as a cell may hold it."""
    return _first.sub(r"'\1", _within.sub(r"\1'\2", text))


def original(cell: str) -> str:
    """Return the text that a cell was made of."""
    return _added.sub(r"\1\2", cell.removeprefix("'"))


def all_safe(texts: pa.Array) -> pa.Array:
    """Return a column of texts as cells may hold them: `safe` of each, null for null."""
    # Many are equal, as in what was typed: each is made safe once.
    each = texts.dictionary_encode()
    within = pc.replace_substring_regex(each.dictionary, pattern=_WITHIN, replacement=r"\1'\2")
    return pc.replace_substring_regex(within, pattern=_FIRST, replacement=r"'\1").take(each.indices)

"""No cell begins a formula, wherever a spreadsheet lets cells begin; and the text is there again when it is undone."""

import csv
import io
import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.releases.formats import tabular
from tests.analysis.releases.formats.made import TEXTS
from tests.examples import examples

# Said anew, and not taken from the code: the first character that shows is a sign, or a control character is in front.
SIGN = re.compile(
    r"[\s\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\"]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
)
anything = st.text(st.sampled_from(" '\"=+-@;\t\r\n,a1\u200b\ufeff＝") | st.characters(codec="utf-8"), max_size=30)


def begins_a_formula(cell: str) -> bool:
    return bool(SIGN.match(cell)) or cell.startswith(("\t", "\r", "\n"))


def test_some_of_the_texts_would_begin_a_formula():
    assert sum(map(begins_a_formula, TEXTS)) > 100


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_begins_a_formula_whatever_the_separator(separator):
    """A program that takes something else for the separator also ends a row at each line end within a text."""
    for text in TEXTS:
        out = io.StringIO()
        csv.writer(out, quoting=csv.QUOTE_ALL).writerow(["1", tabular.safe(text), "2"])
        if separator == ",":
            read = [cell for row in csv.reader(io.StringIO(out.getvalue(), newline="")) for cell in row]
        else:
            # It takes a quotation mark within a cell for one of the text, and ends the row at the next line end.
            read = [cell for line in re.split(r"[\r\n]", out.getvalue()) for cell in line.split(separator)]
            # What it does not know to be cells of ours in quotation marks begin with those; the text's own are tested.
            read = [cell for cell in read if cell]
        assert not [cell for cell in read if SIGN.match(cell)], text


@given(anything)
@settings(max_examples=examples(30), deadline=None)
def test_every_text_comes_back_as_it_was(text):
    cell = tabular.safe(text)
    assert tabular.original(cell) == text
    assert not begins_a_formula(cell)


@given(st.lists(st.none() | anything, max_size=5))
def test_a_column_is_made_as_its_texts_are_one_by_one(texts):
    found = tabular.all_safe(pa.array(texts, pa.string())).to_pylist()
    assert found == [None if text is None else tabular.safe(text) for text in texts]


def test_cells_look_like_this():
    for text, cell in (
        ("", ""), ("plain, and; plain = plain", "plain, and; plain = plain"), ("=1", "'=1"), (" =1", "' =1"),
        ("'tis", "''tis"), ("-1", "'-1"), ("\tx", "'\tx"), ("- a\n- b", "'- a\n'- b"), ("a;=1", "a;'=1"),
        ("a; \"=1", "a;' \"=1"), ("a;'=1", "a;''=1"), ("2;3", "2;3"),
    ):  # fmt: skip
        assert tabular.safe(text) == cell

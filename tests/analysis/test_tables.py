"""Exports: what is written can be read back."""

import csv
import io
import json

import pytest

from analysis.domain import tables

ROWS = [
    {"participant": "=cmd|' /C calc'!A0", "dimension": "a_b", "spam_probability": 1e-17, "judgments": 3},
    {"participant": 'ünï,\n"q"', "dimension": "c%", "spam_probability": None, "judgments": 0, "note": "no votes"},
]


def test_json_is_a_list_of_objects_with_columns_in_their_order():
    written = tables.render("competence", ROWS, "json").decode()
    assert json.loads(written) == ROWS
    assert list(json.loads(written)[0]) == ["participant", "dimension", "spam_probability", "judgments"]
    assert json.loads(tables.render("gold", [], "json")) == []


def test_csv_parses_back_and_starts_no_formula():
    read = list(csv.DictReader(io.StringIO(tables.render("competence", ROWS, "csv").decode())))
    assert read[0] == {
        "participant": "'=cmd|' /C calc'!A0",
        "dimension": "a_b",
        "spam_probability": "1e-17",
        "judgments": "3",
        "note": "",
    }
    assert (read[1]["participant"], read[1]["spam_probability"], read[1]["note"]) == ('ünï,\n"q"', "", "no votes")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_cells_that_start_a_formula_are_made_safe_and_numbers_are_not(start):
    rows = [{"participant": f"{start}1+1", "dimension": "d", "spam_probability": -0.5, "judgments": 1}]
    read = next(csv.DictReader(io.StringIO(tables.render("competence", rows, "csv").decode(), newline="")))
    assert read["participant"] == f"'{start}1+1"
    assert read["spam_probability"] == "-0.5"

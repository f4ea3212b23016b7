"""What cannot be said is said with what it is about: named where it is little, counted where it is much."""

from analysis.domain.captions import Column
from analysis.domain.captions.describing import count, estimate
from analysis.domain.pages.reasons import NAMED, by_table, reasons
from analysis.domain.reports.noting import notes
from analysis.domain.results import agreement, key_figures

COLUMNS = (Column("name", "Name"), estimate("value", "Value", n="n"), Column("unit", "Unit"), count("n", "n"))
WHOLE = {"name": "b", "value": 1.0, "low": 0.5, "high": 1.5, "unit": "", "n": 3}


def said(*rows, columns=COLUMNS, unprinted=()):
    return list(notes(rows, rows, columns, unprinted))


def test_each_reason_stands_once_with_what_it_is_about():
    rows = [({"note": "few; none"}, "a"), ({"note": "few"}, "b"), ({}, "c"), ({"note": "few"}, "b")]
    assert reasons(rows) == [("few", "a, b"), ("none", "a")]


def test_of_all_rows_and_of_many_nobody_reads_a_wall_of_names():
    rows = [({"note": "one topic"}, f"d{n}") for n in range(60)]
    assert reasons(rows) == [("one topic", "All rows.")]
    ((_reason, about),) = reasons([*rows, ({}, "other")])
    assert about == ", ".join([*(f"d{n}" for n in range(NAMED)), f"and {60 - NAMED} more"])
    assert reasons(rows[:1]) == [("one topic", "d0")]


def test_reasons_of_tables_say_which_table_and_how_many_of_its_rows():
    found = {"responses": [{"note": "cites nothing"}, {}, {}], "lengths": [{"note": "one topic; cites nothing"}] * 2}
    assert by_table(found, ["responses", "lengths", "survey"]) == [
        ("cites nothing", "Responses (1 of 3 rows), Lengths of responses (all rows)"),
        ("one topic", "Lengths of responses (all rows)"),
    ]


def test_a_number_that_stands_is_not_called_undefined():
    ratio = WHOLE | {"name": "a", "low": None, "high": None, "note": key_figures.COUNTS}
    assert said(ratio, WHOLE) == ["No interval (one count by another, of all that there are): a"]
    alone = ratio | {"note": agreement.ONE_TOPIC}
    assert said(alone, alone) == [f"No interval ({agreement.ONE_TOPIC}): all rows"]
    assert said(ratio | {"note": "nothing to draw"}, WHOLE) == ["No interval (nothing to draw): a"]


def test_a_number_that_is_missing_is():
    none = WHOLE | {"name": "a", "value": None, "low": None, "high": None, "note": "no such responses"}
    assert said(none, WHOLE) == ["Not defined (no such responses): a"]
    assert said(WHOLE | {"note": "did not converge"}, WHOLE | {"name": "c"}) == ["Note (did not converge): b"]


def test_units_and_empty_names_leave_no_commas_behind():
    rows = [WHOLE | {"name": "", "value": None, "note": "why"}, WHOLE]
    assert said(*rows) == ["Not defined (why): 1 row"]
    rows = [WHOLE | {"name": n, "unit": "", "value": None, "note": "why"} for n in "abcde"]
    assert said(*rows, WHOLE) == ["Not defined (why): a; b; c; and 2 more"]
    assert said(*rows, WHOLE, unprinted=("name",)) == ["Not defined (why): 5 rows"]


def test_numbers_that_tell_rows_apart_are_named_too():
    columns = (Column("style", "Style"), Column("bin", "Part", 0, is_key=True), *COLUMNS[1:])
    row = WHOLE | {"style": "essay", "bin": 3.0, "value": None, "note": "why"}
    assert said(row, WHOLE | {"style": "x", "bin": 1}, columns=columns) == ["Not defined (why): essay, 3"]

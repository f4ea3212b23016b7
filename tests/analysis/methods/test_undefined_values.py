"""What cannot be computed stands with its reason and what it is about: named where it is little, counted elsewhere."""

from analysis.methods.agreement import compute as agreement_compute
from analysis.methods.key_figures import compute as key_figures_compute
from analysis.methods.undefined_values import NAMED, by_table, reasons
from analysis.reports.footnotes import notes
from analysis.tables.table import Column, count, estimate

COLUMNS = (
    Column("name", "Name"),
    estimate("value", "Value", n="n"),
    Column("unit", "Unit"),
    count("n", "n"),
)
WHOLE = {"name": "b", "value": 1.0, "low": 0.5, "high": 1.5, "unit": "", "n": 3}
NONE = WHOLE | {"name": "a", "value": None, "low": None, "high": None, "note": "why"}


def noted(*rows, columns=COLUMNS, unprinted=()):
    """The kind of each note, without its reason; and what it is about."""
    kinds = [note.partition(" (") for note in notes(rows, rows, columns, unprinted)]
    return [(kind, rest.partition("): ")[2]) for kind, _bracket, rest in kinds]


def test_each_reason_stands_once_with_what_it_is_about():
    rows = [({"note": "few; none"}, "a"), ({"note": "few"}, "b"), ({}, "c"), ({"note": "few"}, "b")]
    assert reasons(rows) == [("few", "a, b"), ("none", "a")]


def test_of_all_rows_and_of_many_nobody_reads_a_wall_of_names():
    rows = [({"note": "one topic"}, f"d{n}") for n in range(60)]
    ((reason, about),) = reasons(rows)
    assert (reason, "d0" in about) == ("one topic", False)
    ((_reason, about),) = reasons([*rows, ({}, "other")])
    assert about.startswith(", ".join(f"d{n}" for n in range(NAMED)))
    assert str(60 - NAMED) in about
    assert reasons(rows[:1]) == [("one topic", "d0")]


def test_reasons_of_tables_name_the_table_and_count_its_rows():
    tables = {"responses": [{"note": "cites nothing"}, {}, {}], "lengths": [{"note": "one topic; cites nothing"}] * 2}
    told = dict(by_table(tables, ["responses", "lengths", "survey"]))
    assert list(told) == ["cites nothing", "one topic"]
    assert "1 of 3" in told["cites nothing"]


def test_a_number_without_an_interval_is_not_called_undefined():
    ratio = NONE | {"value": 1.0, "note": key_figures_compute.COUNTS}
    ((without, about),) = noted(ratio, WHOLE)
    ((undefined, also_about),) = noted(NONE, WHOLE)
    ((remark, whole),) = noted(WHOLE | {"note": "did not converge"}, WHOLE | {"name": "c"})
    assert len({without, undefined, remark}) == 3
    assert (about, also_about, whole) == ("a", "a", "b")
    alone = ratio | {"note": agreement_compute.ONE_TOPIC}
    ((kind, about),) = noted(alone, alone)
    assert (kind, "a;" in about) == (without, False)
    assert noted(ratio | {"note": "nothing to draw"}, WHOLE) == [(without, "a")]


def test_units_and_empty_names_leave_no_commas_behind():
    ((_kind, about),) = noted(NONE | {"name": ""}, WHOLE)
    assert about.startswith("1 ")
    rows = [NONE | {"name": n} for n in "abcde"]
    ((_kind, about),) = noted(*rows, WHOLE)
    assert about.startswith("a; b; c; ")
    assert "2" in about
    ((_kind, about),) = noted(*rows, WHOLE, unprinted=("name",))
    assert about.startswith("5 ")


def test_numbers_that_tell_rows_apart_are_named_too():
    columns = (Column("style", "Style"), Column("bin", "Part", 0, is_key=True), *COLUMNS[1:])
    for style, place in (("essay", "essay, 3"), ("", "3")):
        rows = NONE | {"style": style, "bin": 3.0}, WHOLE | {"style": "x", "bin": 1}
        assert [about for _kind, about in noted(*rows, columns=columns)] == [place]

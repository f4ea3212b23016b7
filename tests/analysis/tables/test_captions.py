"""Every table and chart has a description; where a caption promises intervals it tells where there are none."""

import string

import pytest
from django.urls import reverse

from analysis.experiments.experiment import COMMON, EXPERIMENTS
from analysis.figures.figure import FIGURES
from analysis.methods import registry, undefined_values
from analysis.methods.agreement import compute as agreement_compute
from analysis.methods.response_groups import ONE_TOPIC
from analysis.methods.settings import AnalysisSettings
from analysis.parameters import parameters_of
from analysis.reports import builder
from analysis.tables import value_labels
from analysis.tables.table import PARTICIPANT, RESPONSE, TABLES, Holds, fill
from tests.analysis import small_study
from tests.analysis.page_visits import client_of
from tests.analysis.small_study import analyse

#: Parameters by name that captions may hold: of an analysis; of experiments, what all have and each of its own.
PARAMETERS = AnalysisSettings().write()
OF_EXPERIMENTS = {
    name: dict.fromkeys(
        [*COMMON, *(parameter.name for parameter in parameters_of(experiment.parameters))], "endpoint:local"
    )
    for experiment in EXPERIMENTS.values()
    for name in (*experiment.table_names, *(figure.name for figure in experiment.figures))
}


def test_each_column_stands_once_and_names_columns_that_there_are():
    for name, table in TABLES.items():
        keys = [column.key for column in table.columns]
        bounds = [bound for column in table.columns for bound in (column.low, column.high) if bound]
        assert len(keys) == len(set(keys)), name
        assert not set(keys) & set(bounds), name
        assert {column.n for column in table.columns if column.n} <= set(keys), name
        assert all(column.digits is not None for column in table.columns if column.low), name
        assert {*table.across, *table.unprinted} <= set(keys), name
        explained = [column for names in table.meanings for column in names.split(", ")]
        assert set(explained) <= set(table.column_names), name


def test_tables_whose_rows_name_participants_or_responses_say_so():
    for name, table in TABLES.items():
        names_people = bool(table.columns_of(PARTICIPANT) + table.columns_of(RESPONSE))
        assert names_people == (table.holds in {Holds.PSEUDONYMS, Holds.WRITING}), name


def test_figures_show_tables_that_there_are_and_say_what_one_sees():
    for figure in FIGURES.values():
        assert set(figure.tables) <= set(TABLES), figure.name
        assert str(figure.alt), figure.name


def test_captions_name_parameters_that_there_are():
    for name, described in [*TABLES.items(), *FIGURES.items()]:
        assert str(described.title), name
        named = {field for _text, field, _form, _conversion in string.Formatter().parse(str(described.caption))}
        known = OF_EXPERIMENTS.get(name, PARAMETERS)
        assert named - {None} <= set(known), name
        assert fill(described.caption, known).endswith("."), name


def test_methods_compute_the_tables_that_they_declare_and_stand_behind_what_they_need():
    methods = registry.in_order_of_needs(registry.METHODS)
    assert sorted(method.name for method in methods) == sorted(method.name for method in registry.METHODS)
    for place, method in enumerate(methods):
        assert set(method.needs) <= {earlier.name for earlier in methods[:place]}, method.name
    declared = [table.name for method in methods for table in method.tables]
    assert len(declared) == len(set(declared))


def test_key_figures_name_styles_by_their_labels():
    named = value_labels.figure("responses_bullet_human", {"bullet": "Bulleted list"})
    assert "Bulleted list" in named
    assert "bullet" in value_labels.figure("responses_bullet_human")


def test_comparisons_name_styles_by_their_labels():
    naming = value_labels.ValueLabels({}, {"bullet": "Bulleted list"})
    (column,) = (column for column in TABLES["grade_tests"].columns if column.key == "comparison")
    assert naming.value_in_words(column, "bullet - essay", {}) == "Bulleted list - essay"
    assert naming.value_in_words(column, "human - model", {}) == "human - model"


ALONE = {"dimension": "d", "mean": 1.5, "low": None, "high": None, "note": ONE_TOPIC}
WITH = {"dimension": "e", "mean": 1.5, "low": 1.0, "high": 2.0}


def test_a_table_without_one_interval_has_a_remark_with_the_reason_if_all_share_one():
    for rows, has_reason in (([ALONE, ALONE], True), ([ALONE, ALONE | {"note": "another reason"}], False)):
        (remark,) = undefined_values.without_intervals({"grade_means": rows}).values()
        assert (ONE_TOPIC in remark) is has_reason
    for tables in ({"grade_means": [ALONE, WITH]}, {"grade_means": [ALONE | {"mean": None}]},
                   {"grade_means": [], "mace": [{"log_likelihood": 1.0}]}):  # fmt: skip
        assert undefined_values.without_intervals(tables) == {}


def test_only_captions_that_promise_intervals_take_it_back():
    remarks = {"grade_means": "None here."}
    for caption, table, is_changed in (
        ("With 95 % intervals.", "grade_means", True),
        ("Of grades.", "grade_means", False),
        ("With 95 % intervals.", "agreement", False),
    ):
        assert (undefined_values.with_interval_note(caption, [table], remarks) != caption) is is_changed
    naming = builder.ValueLabels({}, {})
    assert ONE_TOPIC in builder.table("grade_means", [ALONE], {}, naming).caption
    assert builder.table("grade_means", [WITH], {}, naming).caption == str(TABLES["grade_means"].caption)


@pytest.mark.extended
@pytest.mark.django_db
def test_pages_of_a_study_of_one_topic_give_the_reason():
    study = small_study.make({pair: letters for pair, letters in small_study.VOTES.items() if pair[0].startswith("t1")})
    analyse(study)
    client = client_of(study)
    of_agreement = agreement_compute.ONE_TOPIC
    for page, reason in (("results", of_agreement), ("grades", ONE_TOPIC), ("order_effects", of_agreement)):
        assert f"{reason}." in client.get(reverse(page, args=[study.slug])).content.decode(), page
    report = reverse("report", args=[study.slug])
    parts = [client.get(report, {"part": part}) for part, _title in client.get(report).context["parts"]]
    assert any(f"{ONE_TOPIC}." in part.content.decode() for part in parts)

"""Every table and chart has a description; where a caption promises intervals it tells where there are none."""

import string

import pytest
from django.urls import reverse

from analysis.experiments.experiment import COMMON
from analysis.experiments.uplift_rag.experiment import EXPERIMENT
from analysis.methods import captions, missing_value_notes
from analysis.methods.agreement.compute import ONE_TOPIC
from analysis.methods.charts import CHARTS
from analysis.methods.settings import AnalysisSettings
from analysis.reports import builder
from analysis.tables.rows import COLUMNS
from tests.analysis import small_study
from tests.analysis.small_study import analyse

from .visits import client_of

PARAMETERS = AnalysisSettings().write()
#: Of experiments: what all have, and what uplift RAG has of its own.
EXPERIMENTS = dict.fromkeys([*COMMON, *(each.name for each in EXPERIMENT.fields)], "endpoint:local")


def test_every_table_is_described_with_each_of_its_columns():
    assert set(captions.TABLES) == set(COLUMNS)
    for name, table in captions.TABLES.items():
        keys = [column.key for column in table.columns]
        bounds = [bound for column in table.columns for bound in (column.low, column.high) if bound]
        assert len(keys) == len(set(keys)), name
        assert not set(keys) & set(bounds), name
        assert set(keys) | set(bounds) == set(COLUMNS[name]), name
        assert {column.n for column in table.columns if column.n} <= set(COLUMNS[name]), name
        assert all(column.digits is not None for column in table.columns if column.low), name


def test_every_chart_is_described():
    assert set(captions.FIGURES) == set(CHARTS)
    assert [name for name, figure in captions.FIGURES.items() if not figure.alt] == []


def test_captions_name_parameters_that_there_are_and_sections_that_there_are():
    for name, described in [*captions.TABLES.items(), *captions.FIGURES.items()]:
        assert described.section in captions.SECTIONS, name
        assert str(described.title), name
        named = {field for _text, field, _form, _conversion in string.Formatter().parse(str(described.caption))}
        known = EXPERIMENTS if described.section == "uplift" else PARAMETERS
        assert named - {None} <= set(known), name
        assert captions.caption(described.caption, known).endswith("."), name


ALONE = {"dimension": "d", "mean": 1.5, "low": None, "high": None, "note": ONE_TOPIC}
WITH = {"dimension": "e", "mean": 1.5, "low": 1.0, "high": 2.0}


def test_a_table_without_one_interval_has_a_remark_with_the_reason_if_all_share_one():
    for rows, has_reason in (([ALONE, ALONE], True), ([ALONE, ALONE | {"note": "another reason"}], False)):
        (remark,) = missing_value_notes.without_intervals({"grade_means": rows}).values()
        assert (ONE_TOPIC in remark) is has_reason
    for tables in ({"grade_means": [ALONE, WITH]}, {"grade_means": [ALONE | {"mean": None}]},
                   {"grade_means": [], "mace": [{"log_likelihood": 1.0}]}):  # fmt: skip
        assert missing_value_notes.without_intervals(tables) == {}


def test_only_captions_that_promise_intervals_take_it_back():
    remarks = {"grade_means": "None here."}
    for caption, table, is_changed in (
        ("With 95 % intervals.", "grade_means", True),
        ("Of grades.", "grade_means", False),
        ("With 95 % intervals.", "agreement", False),
    ):
        assert (missing_value_notes.with_interval_note(caption, [table], remarks) != caption) is is_changed
    naming = builder.ValueLabels({}, {})
    assert ONE_TOPIC in builder.table("grade_means", [ALONE], {}, naming).caption
    assert builder.table("grade_means", [WITH], {}, naming).caption == str(captions.table("grade_means").caption)


@pytest.mark.django_db
def test_pages_of_a_study_of_one_topic_give_the_reason():
    study = small_study.make({pair: letters for pair, letters in small_study.VOTES.items() if pair[0].startswith("t1")})
    analyse(study)
    client = client_of(study)
    for page in ("results", "grades", "order_results", "report"):
        assert f"{ONE_TOPIC}." in client.get(reverse(page, args=[study.slug])).content.decode(), page

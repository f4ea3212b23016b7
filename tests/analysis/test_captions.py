"""Every table and chart says what it shows: analysis/domain/captions."""

import string

import pytest

from analysis.domain import captions
from analysis.domain.charts import CHARTS
from analysis.domain.experiments.experiment import COMMON
from analysis.domain.experiments.uplift.describing import EXPERIMENT
from analysis.domain.results.schema import COLUMNS
from analysis.domain.results.settings import Settings

PARAMETERS = Settings().write()
#: Of experiments: what all have, and what uplift RAG has of its own.
EXPERIMENTS = dict.fromkeys([*COMMON, *(each.name for each in EXPERIMENT.fields)], "endpoint:local")


@pytest.mark.parametrize("name", COLUMNS)
def test_every_table_is_described_with_each_of_its_columns(name):
    assert name in captions.TABLES, f"describe the table {name} in analysis/domain/captions"
    table = captions.TABLES[name]
    keys = [column.key for column in table.columns]
    bounds = [bound for column in table.columns for bound in (column.low, column.high) if bound]
    assert len(keys) == len(set(keys))
    assert not set(keys) & set(bounds)
    assert set(keys) | set(bounds) == set(COLUMNS[name]), f"of the table {name}"
    assert {column.n for column in table.columns if column.n} <= set(COLUMNS[name])
    assert all(column.digits is not None for column in table.columns if column.low)


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_described(name):
    assert name in captions.FIGURES, f"describe the chart {name} in analysis/domain/captions"
    assert captions.FIGURES[name].alt


@pytest.mark.parametrize("name", [*captions.TABLES, *captions.FIGURES])
def test_captions_name_parameters_that_there_are_and_sections_that_there_are(name):
    for registry in (captions.TABLES, captions.FIGURES):
        if name in registry:
            described = registry[name]
            assert described.section in captions.SECTIONS
            assert str(described.title)
            named = {field for _text, field, _form, _conversion in string.Formatter().parse(str(described.caption))}
            known = EXPERIMENTS if described.section == "uplift" else PARAMETERS
            assert named - {None} <= set(known)
            assert captions.caption(described.caption, known).endswith(".")


def test_nothing_is_described_that_does_not_exist():
    assert set(captions.TABLES) <= set(COLUMNS)
    assert set(captions.FIGURES) <= set(CHARTS)

"""Every table and chart says what it shows: analysis/domain/captions."""

import string

from analysis.domain import captions
from analysis.domain.charts import CHARTS
from analysis.domain.experiments.experiment import COMMON
from analysis.domain.experiments.uplift.describing import EXPERIMENT
from analysis.domain.results.schema import COLUMNS
from analysis.domain.results.settings import Settings

PARAMETERS = Settings().write()
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

"""A release is read by those who will read it, datasets, duckdb, pandas, mlcroissant: each sees what tables hold.

They are imported where they read: every process that collects tests would pay seconds for them.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.releases.formats import tabular
from analysis.releases.formats.tabular import as_text
from tests.analysis.releases.formats.made import RESPONSES, TEXTS, TOPICS, release

# Of mlcroissant's own making: it uses what rdflib and pandas have other names for by now.
pytestmark = [
    pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("release") / "cats"
    release(made)
    return made


def expected() -> list[dict[str, Any]]:
    """Return the rows as formats with types hold them: JSON as a text."""
    return [row | {"answers": as_text(row["answers"])} for row in RESPONSES.rows()]


def plain(value: Any) -> Any:
    """Return a value of pandas as Python has it."""
    import pandas as pd

    return None if not isinstance(value, list) and pd.isna(value) else value


def test_datasets_loads_each_table_by_its_name(folder, tmp_path):
    import datasets

    found = datasets.load_dataset(str(folder), "responses", split="train", cache_dir=str(tmp_path))
    assert [row | {"at": row["at"] and row["at"].isoformat()} for row in found] == [
        row | {"at": row["at"] and row["at"].isoformat()} for row in expected()
    ]
    assert datasets.get_dataset_config_names(str(folder)) == ["topics", "responses"]
    default = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path))
    assert default.column_names == [column.name for column in RESPONSES.columns]


def test_duckdb_reads_parquet_and_json_lines(folder):
    import duckdb

    with duckdb.connect() as connection:
        names = ("text", "note", "words", "merit", "included", "answers", "cited", "origin")
        said = f"SELECT {', '.join(names)}, epoch_us(\"at\") FROM '{folder}/parquet/responses.parquet'"
        found = connection.sql(said).fetchall()
        assert [row[:-1] for row in found] == [tuple(row[name] for name in names) for row in expected()]
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        since = [row["at"] and (row["at"] - epoch) // timedelta(microseconds=1) for row in expected()]
        assert [row[-1] for row in found] == since
        texts = connection.sql(f"SELECT text FROM read_json('{folder}/jsonl/responses.jsonl.gz')").fetchall()
        assert [text for (text,) in texts] == TEXTS
        joined = connection.sql(
            f"SELECT count(*) FROM '{folder}/parquet/responses.parquet' r "
            f"JOIN '{folder}/parquet/topics.parquet' t ON r.topic = t.topic AND r.text = t.query"
        ).fetchall()
        assert joined == [(len(TEXTS),)]


def test_pandas_reads_parquet_json_lines_and_csv(folder):
    import pandas as pd

    table = pd.read_parquet(folder / "parquet/responses.parquet", dtype_backend="pyarrow")
    assert list(table["text"]) == TEXTS
    assert [plain(value) for value in table["words"]] == [row["words"] for row in expected()]
    read = pd.read_json(folder / "jsonl/responses.jsonl.gz", lines=True, dtype=False)
    assert list(read["text"]) == TEXTS
    cut = pd.read_csv(folder / "csv/responses.csv", dtype={"text": str}, keep_default_na=False)
    assert [tabular.original(text) for text in cut["text"]] == TEXTS


def test_croissant_is_valid_and_its_records_are_read(folder):
    import mlcroissant

    found = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert found.metadata.issues.errors == set()
    assert found.metadata.issues.warnings == set()
    assert [each.name for each in found.metadata.record_sets] == ["topics", "responses"]
    records = list(found.records(record_set="responses"))
    assert [record["responses/text"].decode() for record in records] == TEXTS
    assert [record["responses/words"] for record in records] == [row["words"] for row in expected()]
    assert [[cited.decode() for cited in record["responses/cited"] or []] for record in records] == [
        row["cited"] or [] for row in expected()
    ]
    assert [r["topics/query"].decode() for r in found.records(record_set="topics")] == [
        r["query"] for r in TOPICS.rows()
    ]

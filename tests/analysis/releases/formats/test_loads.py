"""A release is read by those who will read it, datasets, duckdb, pandas, mlcroissant: each sees what tables hold."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import datasets
import duckdb
import mlcroissant
import pandas as pd
import pytest

from analysis.domain.releases.formats import cells
from analysis.domain.releases.formats.columns import as_text

from .made import RESPONSES, TEXTS, TOPICS, release

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
    return None if not isinstance(value, list) and pd.isna(value) else value


def test_datasets_loads_each_table_by_its_name(folder, tmp_path):
    found = datasets.load_dataset(str(folder), "responses", split="train", cache_dir=str(tmp_path))
    assert [row | {"at": row["at"] and row["at"].isoformat()} for row in found] == [
        row | {"at": row["at"] and row["at"].isoformat()} for row in expected()
    ]
    assert datasets.get_dataset_config_names(str(folder)) == ["topics", "responses"]
    default = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path))
    assert default.column_names == [column.name for column in RESPONSES.columns]


def test_duckdb_reads_parquet_and_json_lines(folder):
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


def test_duckdb_reads_csv_with_types(folder):
    with duckdb.connect() as connection:
        found = connection.sql(
            f"SELECT text, words, merit, included FROM read_csv('{folder}/csv/responses.csv', all_varchar = false, "
            "quote = '\"', escape = '\"', delim = ',', header = true, new_line = '\\n')"
        ).fetchall()
    assert [cells.original(row[0] or "") for row in found] == TEXTS
    assert [row[1:] for row in found] == [(row["words"], row["merit"], row["included"]) for row in expected()]


def test_pandas_reads_parquet_json_lines_and_csv(folder):
    table = pd.read_parquet(folder / "parquet/responses.parquet", dtype_backend="pyarrow")
    assert list(table["text"]) == TEXTS
    assert [plain(value) for value in table["words"]] == [row["words"] for row in expected()]
    read = pd.read_json(folder / "jsonl/responses.jsonl.gz", lines=True, dtype=False)
    assert list(read["text"]) == TEXTS
    cut = pd.read_csv(folder / "csv/responses.csv", dtype={"text": str}, keep_default_na=False)
    assert [cells.original(text) for text in cut["text"]] == TEXTS


def test_croissant_is_valid_and_its_records_are_read(folder):
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


def test_croissant_names_every_data_file_with_its_sum(folder):
    described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert [(file["contentUrl"], file["sha256"]) for file in described["distribution"]] == [
        (file["path"], file["sha256"]) for file in manifest["files"]
    ]
    assert described["license"] == "https://creativecommons.org/licenses/by/4.0/legalcode"
    assert described["creator"][0]["affiliation"]["name"] == "The University"


def test_the_reference_reader_would_refuse_a_field_of_no_file(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    described = json.loads((tmp_path / "copy/croissant.json").read_text(encoding="utf-8"))
    described["recordSet"][0]["field"][0]["source"]["fileObject"]["@id"] = "parquet/nothing.parquet"
    (tmp_path / "copy/croissant.json").write_text(json.dumps(described))
    with pytest.raises(mlcroissant.ValidationError):
        mlcroissant.Dataset(jsonld=str(tmp_path / "copy/croissant.json"))

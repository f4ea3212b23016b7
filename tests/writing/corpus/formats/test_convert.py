"""`crowdrag convert`: one file in, one file out, and what was lost on the way."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from writing.corpus.formats.format_registry import FORMATS

DATA = Path(__file__).parents[3] / "data" / "formats"


def command(*arguments: object) -> Any:
    out = StringIO()
    call_command("convert", *map(str, arguments), "--json", stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def test_a_file_is_converted_and_losses_are_counted(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    result = command(DATA / "spot-check-local-run.jsonl", "--to", "trec-rag24", "--out", out)

    assert (result["from"], result["values"], result["set_aside"], result["lost"]) == ("autojudge-reports", 1, 0, {})
    assert json.loads(out.read_text())["run_id"] == "my_best_run_02_citations"
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["missing.jsonl", "--to", "alce", "--out", "x"],
        [DATA / "spot-check-run.jsonl", "--to", "trec-qrels", "--out", "x"],
        [DATA / "ORIGIN.md", "--to", "alce", "--out", "x"],
        [DATA / "spot-check-run.jsonl", "--to", "alce", "--out", "no/such/folder/x"],
        [DATA / "spot-check-run.jsonl", "--to", "alce", "--out", "x", "--column-names", "query"],
        [DATA / "spot-check-run.jsonl", "--from", "trec-run", "--to", "trec-run", "--out", "x"],
    ],
)
def test_what_cannot_be_converted_ends_with_advice(
    arguments: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError):
        command(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_the_formats_are_listed() -> None:
    assert [each["name"] for each in command("--list")["formats"]] == [each.name for each in FORMATS]

"""Archives that are damaged, forged or made to harm: refused with file, line and field; the study stays as it was."""

import base64
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings

from analysis.archive import importer, reader
from analysis.archive.archive_tables import ALL
from analysis.archive.schema_versions import LATEST
from analysis.inputs import snapshots
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Participant
from tests.analysis.archive.exported import (
    Files,
    contents,
    export,
    forged,
    import_archive,
    packed,
    with_manifest,
    written,
)
from tests.analysis.whole_study import JUDGMENTS, whole_study
from tests.factories import StudyFactory, TopicFactory
from writing.models import Topic

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files")]
Problem = dict[str, Any]


@pytest.fixture(scope="module")
def made(shared_rows: None, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """An archive, made once."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch, override_settings(MEDIA_ROOT=folder, DATA_DIR=folder):
        patch.setattr(snapshots, "repeatable_read", transaction.atomic)
        patch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
        return contents(export(whole_study()))


@pytest.fixture
def files(made: Files) -> Files:
    return dict(made)


def refused(path: Path) -> list[Problem]:
    """Import into an empty study; return the problems when it was refused and is as empty as before."""
    study = StudyFactory(title="As it was")
    run = import_archive(study, path)
    assert run.state == RunState.FAILED
    assert run.problems, run.error
    assert importer.is_empty(study)
    study.refresh_from_db()
    assert study.title == "As it was"
    return run.problems


def place(problem: Problem) -> tuple[str, int, str]:
    return problem["file"], problem["line"], problem["field"]


def changed(name: str, value: Any, line: int = 1) -> Callable[[list[Any]], list[Any]]:
    def change(rows: list[Any]) -> list[Any]:
        rows[line - 1] = rows[line - 1] | {name: value}
        return rows

    return change


def opened(rows: list[Any]) -> list[Any]:
    return [row | {"state": "OPEN"} if row["has_slots"] else row for row in rows]


def planned(rows: list[Any]) -> list[Any]:
    return [rows[0] | {"state": "PLANNED", "started_at": None, "finished_at": None}, *rows[1:]]


def turned(state: str, into: str) -> Callable[[list[Any]], list[Any]]:
    return lambda rows: [row | {"state": into} if row["state"] == state and row["pay"] else row for row in rows]


def without(name: str) -> Callable[[list[Any]], list[Any]]:
    return lambda rows: [{key: value for key, value in rows[0].items() if key != name}, *rows[1:]]


ROWS: list[tuple[str, Callable[[list[Any]], list[Any]], int, str]] = [
    ("topics", changed("query", 5), 1, "query"),
    ("topics", changed("query", "half \ud800 a pair", line=2), 2, "query"),
    ("topics", changed("query", "nul \x00"), 1, "query"),
    ("topics", changed("created_at", "yesterday"), 1, "created_at"),
    ("topics", changed("created_at", "2026-01-01T12:00:00"), 1, "created_at"),
    ("topics", changed("version", -1), 1, "version"),
    ("topics", changed("version", 2**40), 1, "version"),
    ("topics", changed("version", True), 1, "version"),
    ("topics", changed("id", 7), 1, "id"),
    ("topics", changed("study", 1), 1, ""),
    ("topics", without("narrative"), 1, "narrative"),
    ("participants", changed("kind", "ROBOT"), 1, "kind"),
    ("participants", changed("identity", "x"), 1, ""),
    ("participants", changed("platform_facts", {"a": ["\x00"]}), 1, "platform_facts"),
    ("retrieved", changed("topic", 99), 1, "topic"),
    ("retrieved", changed("topic", 0), 1, "topic"),
    ("retrieved", changed("passage", "1"), 1, "passage"),
    ("tasks", changed("revises", 3, line=3), 3, "revises"),  # itself
    ("tasks", changed("revises", 4, line=3), 3, "revises"),  # one that stands later
    ("editing_sessions", changed("base", 0, line=2), 2, "base"),
    ("log_batches", changed("payload", "not base64!"), 1, "payload"),
    ("log_batches", changed("payload", base64.b64encode(b"other").decode()), 1, "digest"),
    ("snapshots", changed("payload", base64.b64encode(b"other").decode()), 1, "payload"),
    ("snapshots", changed("digest", "0" * 64), 1, "payload"),
    ("snapshots", changed("mark", {}), 1, "mark"),
    ("campaigns", opened, 3, "state"),
    ("runs", planned, 1, "state"),
    ("injection_trials", changed("measurement", "first"), 1, "measurement"),
    ("judgments", changed("value", 1.5), 1, "value"),
    ("judgments", lambda rows: [*rows, "{no json\n"], JUDGMENTS + 1, ""),
    ("judgments", lambda rows: [*rows, "[1, 2]\n"], JUDGMENTS + 1, ""),
    ("judgments", lambda rows: [*rows, "[" * 100_000 + "\n"], JUDGMENTS + 1, ""),
    ("study", lambda rows: [], 0, ""),
    ("study", lambda rows: [*rows, rows[0] | {"id": 2}], 0, ""),
    # Fit for their types, but not for the database's rules.
    ("judgments", changed("value", 9), JUDGMENTS, ""),
    ("judgments", lambda rows: [*rows, rows[0] | {"id": JUDGMENTS + 1}], JUDGMENTS + 1, ""),
    ("topics", changed("query", ""), 4, ""),
    ("assignments", turned("SURPLUS", "SUBMITTED"), 11, "state"),
    ("slots", lambda rows: [*rows, rows[0] | {"id": len(rows) + 1, "number": 9}], 7, ""),
    ("pairs", changed("b", 1), 15, ""),
]


@pytest.mark.parametrize("some", [slice(0, None, 4), pytest.param(slice(None), marks=pytest.mark.extended)])
def test_a_row_that_does_not_fit(files: Files, tmp_path: Path, some: slice) -> None:
    wrong = []
    for table, change, line, field in ROWS[some]:
        problem = refused(written(forged(files, table, change), tmp_path / "a.zip"))[0]
        if place(problem) != (f"data/{table}.jsonl.gz", line, field) or not problem["expected"]:
            wrong.append(problem)
    assert not wrong


def test_a_place_of_somebody_who_needs_none(files: Files, tmp_path: Path) -> None:
    problems = refused(written(forged(files, "assignments", turned("ACCEPTED", "SURPLUS")), tmp_path / "a.zip"))
    assert place(problems[0]) == ("data/slots.jsonl.gz", 6, "")
    assert "held_by_who_needs_it" in problems[0]["message"]


def test_problems_end_at_a_hundred(files: Files, tmp_path: Path) -> None:
    files = forged(files, "topics", lambda rows: [{"id": n} for n in range(1, 500)])
    assert len(refused(written(files, tmp_path / "a.zip"))) == 100


def test_what_is_no_archive_or_cut_short(files: Files, tmp_path: Path) -> None:
    whole = written(files, tmp_path / "a.zip").read_bytes()
    path = tmp_path / "b.zip"
    cut = [whole[: int(len(whole) * share)] for share in (0.1, 0.5, 0.9, 0.999)]
    for content in (b"", b"no zip at all", b"PK\x03\x04 no zip either", *cut):
        path.write_bytes(content)
        refused(path)


def test_a_changed_byte_in_any_file(files: Files, tmp_path: Path) -> None:
    for name in sorted(files.keys() - {"manifest.json"})[::4]:
        content = bytearray(files[name])
        content[len(content) // 2] ^= 1
        assert refused(written(files | {name: bytes(content)}, tmp_path / "a.zip"))[0]["file"] == name


MANIFESTS: list[tuple[dict[str, Any], str]] = [
    ({"schema_version": LATEST + 1}, "schema_version"),
    ({"schema_version": 0}, "schema_version"),
    ({"schema_version": True}, "schema_version"),
    ({"schema_version": 1}, "files"),  # it holds files that the first version had not
    ({"schema_version": None}, "schema_version"),
    ({"format": "other"}, "format"),
    ({"files": []}, "files"),
    ({"files": "none"}, "files"),
    ({"files": [{"path": "data/topics.jsonl.gz"}]}, "files[0]"),
]


@pytest.mark.extended
def test_a_manifest_of_something_else(files: Files, tmp_path: Path) -> None:
    manifest = json.loads(files["manifest.json"])
    for change, field in MANIFESTS:
        forged_too = files | {"manifest.json": json.dumps(manifest | change).encode()}
        problems = refused(written(forged_too, tmp_path / "a.zip"))
        assert place(problems[0]) == ("manifest.json", 0, field), change
    for content in (b"", b"{", b"[]", b"[" * 100_000, b"\xff\xfe"):
        problems = refused(written(files | {"manifest.json": content}, tmp_path / "a.zip"))
        assert problems[0]["file"] == "manifest.json", content[:2]
    manifest["files"][1]["rows"] += 1  # rows that are not there
    problems = refused(written(files | {"manifest.json": json.dumps(manifest).encode()}, tmp_path / "a.zip"))
    assert problems[0]["file"] == ALL[1].file


def test_a_name_that_leads_elsewhere(files: Files, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if "files" not in path.parts}
    for name in ("../../etc/passwd", "/etc/passwd", "data/../x", "C:\\x", "data/other.jsonl.gz", "x" * 5000):
        refused(written(files | {name: b"x"}, tmp_path / "a.zip"))
        left = {path for path in tmp_path.rglob("*") if "files" not in path.parts} - before
        assert left == {tmp_path / "a.zip"}, name


def test_a_file_that_is_there_twice_or_missing(files: Files, tmp_path: Path) -> None:
    name = "data/topics.jsonl.gz"
    path = written(files, tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as zipped, pytest.warns(UserWarning, match="Duplicate"):
        zipped.writestr(name, packed([]))
    assert refused(path)[0]["file"] == name
    del files[name]
    assert place(refused(written(files, tmp_path / "a.zip"))[0]) == (name, 0, "")


@pytest.mark.extended
def test_a_file_that_unpacks_without_end(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed(['{"id": 1, "query": "', "0" * 50_000_000, '"}\n'])
    # It says so: refused by its ratio, unread.
    monkeypatch.setattr(reader, "RATIO_FROM", 1_000_000)
    honest = with_manifest(files | {"data/topics.jsonl.gz": bomb})
    problem = refused(written(honest, tmp_path / "a.zip"))[0]
    assert place(problem) == ("data/topics.jsonl.gz", 0, "")
    assert "400 : 1" in problem["expected"]
    # It does not: no more is read than it says.
    manifest = json.loads(honest["manifest.json"])
    for entry in manifest["files"]:
        entry["content_bytes"] = min(entry["content_bytes"], 1_000_000)
    lying = honest | {"manifest.json": json.dumps(manifest).encode()}
    assert place(refused(written(lying, tmp_path / "a.zip"))[0]) == ("data/topics.jsonl.gz", 1, "")


def test_a_study_that_holds_anything_else_stays_as_it_is(files: Files, tmp_path: Path) -> None:
    study = StudyFactory()
    TopicFactory(study=study)
    run = import_archive(study, written(files, tmp_path / "a.zip"))
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)
    assert Topic.objects.filter(study=study).count() == 1
    assert not Participant.objects.filter(study=study).exists()

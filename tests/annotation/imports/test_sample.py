"""The sample of the published corpus: every row, every snapshot, and the figures that an import must keep.

`make test` imports three of its topics, `make test-all` all of them.
"""

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from annotation.enums import Judges
from annotation.models import Assignment, Judgment, Pair, PlatformSubmission
from crowdrag.studies.models import Participant, Study
from tests.annotation.imports.published_corpora import bring_in, everything
from tests.factories import StudyFactory
from writing.editor import logs
from writing.enums import Origin
from writing.models import Passage, Response, RetrievedPassage, SurveyAnswers, Topic, WritingLog

DATA = os.environ.get("CROWDRAG_DATA", "")
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the sample of the corpus is not here"),
    pytest.mark.timeout(600),
]
FOLDER = Path(DATA) / "crowdrag25"


WRITING = ("raw/study1_retrieval", "raw/study1_tasks", "raw/study1_responses_human", "raw/study1_responses_llm")
VOTES = "raw/study2_responses"


def rows(name: str, folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def write_part(folder: Path, topics: int) -> None:
    """Write a folder with the topics that were judged first: what was written on them, and how the crowd judged it."""
    names = list(dict.fromkeys(row["query_id"] for row in rows(VOTES)))[:topics]
    marks = [f'"{key}":"{name}"'.encode() for name in names for key in ("topic", "query_id")]
    (folder / "raw").mkdir()
    for name in (*WRITING, VOTES):
        with gzip.open(FOLDER / f"{name}.jsonl.gz") as source:
            # The topic stands before any text.
            kept = [line for line in source if any(mark in line[:200] for mark in marks)]
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(b"".join(kept), compresslevel=1))


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.mark.extended
def test_three_topics_of_the_sample_are_imported(study: Study, tmp_path: Path) -> None:
    write_part(tmp_path, topics=3)
    counts = {name: sum(1 for _row in rows(name, tmp_path)) for name in (*WRITING, VOTES)}

    summary = bring_in(study, tmp_path)

    assert (Topic.objects.count(), RetrievedPassage.objects.count()) == (3, 3 * 20)
    found = Counter(Response.objects.values_list("origin", flat=True))
    assert found == {Origin.HUMAN: counts[WRITING[1]], Origin.MODEL: counts[WRITING[3]]}
    assert min(found.values()) >= 3
    assert Judgment.objects.count() == counts[VOTES] * 7 > 0
    assert summary["snapshots"] == counts[WRITING[2]]
    _every_snapshot_comes_back(tmp_path, counts[WRITING[2]])
    before = everything()
    bring_in(study, tmp_path)
    assert everything() == before


@pytest.mark.extended
def test_the_sample_is_imported_row_for_row(study: Study) -> None:
    summary = bring_in(study, FOLDER)
    assert (Topic.objects.count(), Passage.objects.count(), RetrievedPassage.objects.count()) == (150, 2999, 3000)
    assert Counter(Response.objects.values_list("origin", flat=True)) == {Origin.HUMAN: 450, Origin.MODEL: 450}
    assert SurveyAnswers.objects.count() == 2 * 435
    assert Participant.objects.filter(kind="CROWD", writing_tasks__isnull=False).distinct().count() == 25
    judged = Counter(Judgment.objects.values_list("item__campaign__name", flat=True))
    assert {campaign: count / 7 for campaign, count in judged.items()} == {
        "crowd-pairwise": 4290, "crowd-pointwise": 78, "experts-pairwise": 80, "model-combined": 732,
        "model-individual": 775,
    }  # fmt: skip
    assert Pair.objects.count() == 840
    assert Judgment.objects.pool(Judges.MODEL).count() == 2 * 480 * 7
    assert Judgment.objects.pool(Judges.EXPERT).count() == 60 * 7
    assert (PlatformSubmission.objects.count(), Assignment.objects.filter(is_included=False).count()) == (360, 1)
    equal = {"pairs": 840, "equal": 840, "different": 0, "examples": [], "unreadable": []}
    assert summary["published_ratings"] == equal
    derived = {"equal_in_both_files": 732, "different": 0, "only_in_raw": 0, "only_in_artifacts": 0}
    assert summary["model_combined"] == derived
    _every_snapshot_comes_back(FOLDER, 94_587)
    _the_logs_are_small(summary)
    before = everything()
    bring_in(study, FOLDER)
    assert everything() == before


def _every_snapshot_comes_back(folder: Path, expected: int) -> None:
    """Compare all snapshots of a folder with what the logs say, time and text."""
    stored = {log.task.external_id: log for log in WritingLog.objects.select_related("task")}
    found: Iterator[tuple[int, str]] = iter(())
    current, origin, count = "", 0, 0
    for row in rows("raw/study1_responses_human", folder):
        if row["response"] != current:
            assert next(found, None) is None
            current, origin = row["response"], row["timestamp"]
            found = logs.snapshots(stored.pop(current))
        assert next(found) == (row["timestamp"] - origin, row["text"])
        count += 1
    assert next(found, None) is None
    assert (count, stored) == (expected, {})


def _the_logs_are_small(summary: dict[str, Any]) -> None:
    """The tables of the log, indexes and all, take 5 % of the snapshots' texts or less."""
    with connection.cursor() as cursor:
        tables = ["writing_writinglog", "writing_logbatch"]
        cursor.execute("SELECT sum(pg_total_relation_size(t)) FROM unnest(%s::regclass[]) t", [tables])
        size = int(cursor.fetchone()[0])
    texts = sum(len(row["text"].encode()) for row in rows("raw/study1_responses_human"))
    assert summary["snapshot_characters"] <= texts
    assert size <= 0.05 * texts


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_reading_the_sample_takes_little_memory() -> None:
    """In a process of its own, whose peak is nobody else's."""
    program = (
        "import django; django.setup(); from pathlib import Path;"
        "from annotation.imports import crowdrag25; from writing.corpus.imports.problems import Problems;"
        "from writing.corpus.imports.sources import Source, of_folder;"
        f"crowdrag25.read(Source(of_folder(Path({str(FOLDER)!r}))), Problems());"
        # Not getrusage's: that peak is handed down by the process that started this one.
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "crowdrag.settings"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)

    assert int(done.stdout) * 1024 < 1024**3

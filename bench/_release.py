"""A study with many writing events and responses, and the cost of its release; in a separate process."""

from __future__ import annotations

import gzip
import resource
import shutil
import tempfile
import threading
import time
from pathlib import Path

EVENTS_OF_A_LOG = 500
STEP = 2000
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "asked", "who", "reads", "what", "people", "write", "there")


def fill(responses: int, events: int) -> None:
    """Create the study.

    People write as many of the responses as this number of events needs; the others are a model's.
    """
    from datetime import UTC, datetime

    from django.db import connection

    from crowdrag.studies.models import Participant, Study
    from writing.models import Response, Style, Topic

    now = datetime(2026, 1, 1, tzinfo=UTC)
    study = Study.objects.create(slug="large", title="Large", created_at=now, is_simulated=True)
    topics = Topic.objects.bulk_create(
        Topic(study=study, external_id=f"t{n}", query=f"query {n}", created_at=now) for n in range(150)
    )
    style = Style.objects.create(study=study, name="essay", label="Essay", created_at=now)
    people = Participant.objects.bulk_create(
        Participant(study=study, external_id=f"p{n}", kind="CROWD", is_simulated=True, created_at=now)
        for n in range(1000)
    )
    model = Participant.objects.create(study=study, external_id="m", kind="MODEL", created_at=now)
    logs = events // EVENTS_OF_A_LOG
    for begin in range(0, logs, STEP):
        _written(study, topics, style, people, range(begin, min(begin + STEP, logs)), now)
    for begin in range(logs, responses, STEP):
        Response.objects.bulk_create(
            Response(
                study=study, external_id=f"r{n}", topic=topics[n % 150], style=style, participant=model, origin="MODEL",
                text=_text(n), words=120, created_at=now,
            )
            for n in range(begin, min(begin + STEP, responses))
        )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # an import does this; otherwise autovacuum would do it a minute later


def _log(wanted: str) -> tuple[str, list[list]]:
    """Return a text and its typing events: about every twentieth letter is wrong at first and deleted."""
    text, events = "", []
    for n in range(EVENTS_OF_A_LOG):
        ms, at = 200 * n, len(text)
        if text == wanted:
            events.append(["c", ms, n % at, n % at])
        elif n % 22 == 21:
            events.append(["s", ms, at - 1, 1, "", "deleted", "deleteContentBackward"])
            text = text[:-1]
        else:
            letter = "x" if n % 22 == 20 else wanted[at]
            events.append(["s", ms, at, 0, letter, "typed", "insertText"])
            text += letter
    return text, events


def _text(n: int) -> str:
    return " ".join(WORDS[(n * 7 + i * (1 + n % 5)) % len(WORDS)] for i in range(120)) + f" [{n % 10}]."


def _written(study, topics, style, people, numbers, now) -> None:
    from writing.editor import codec
    from writing.enums import LogSource, TaskState
    from writing.models import LogBatch, Response, WritingLog, WritingTask

    tasks = WritingTask.objects.bulk_create(
        WritingTask(
            study=study, external_id=f"task{n}", topic=topics[n % 150], style=style,
            participant=people[n // 150 % 1000], state=TaskState.ACCEPTED, created_at=now, submitted_at=now,
        )
        for n in numbers
    )  # fmt: skip
    made = WritingLog.objects.bulk_create(
        WritingLog(task=task, source=LogSource.EDITOR, started_at=now, created_at=now) for task in tasks
    )
    batches, responses = [], []
    for n, task, log in zip(numbers, tasks, made, strict=True):
        text, events = _log(_text(n))
        payload = codec.pack(events)
        batches.append(
            LogBatch(
                log=log, number=0, first_event=0, event_count=len(events), codec=codec.CODEC, payload=payload,
                digest=codec.digest(payload), received_at=now,
            )
        )  # fmt: skip
        responses.append(
            Response(
                study=study, external_id=f"r{n}", topic=task.topic, style=style, participant=task.participant,
                task=task, origin="HUMAN", text=text, words=90, created_at=now, submitted_at=now,
            )
        )  # fmt: skip
    LogBatch.objects.bulk_create(batches)
    Response.objects.bulk_create(responses)


def measure() -> dict:
    """Write the release during concurrent writes, then copy the same rows with COPY through gzip."""
    import os

    from django.db import connection

    from analysis.releases.choices import Choices, Logs, Timing
    from crowdrag.studies.models import Study

    study = Study.objects.get(slug="large")
    choices = Choices(logs=Logs.FULL, timing=Timing.EXACT, gold=False, grades=False, judgments=False)
    folder = Path(tempfile.mkdtemp(prefix="crowdrag-bench-release-"))
    done = threading.Event()
    writer = threading.Thread(target=_keep_writing, args=(done,))
    writer.start()
    try:
        began, cpu = time.perf_counter(), time.process_time()
        manifest, parts = _release(study, choices, folder / "r", os.environ.get("BENCH_RELEASE_LAYOUT") == "1")
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        done.set()
        writer.join()
        rows = {table["name"]: table["rows"] for table in manifest["tables"]}
        copied, copy_bytes = _copied(connection, folder / "r", rows)
        held = _unpacked(folder / "r")
    finally:
        done.set()
        shutil.rmtree(folder, ignore_errors=True)
    now = study.responses.count()
    return {
        "seconds": seconds, "cpu": cpu, "bytes": peak, "rows": rows, "held": held, "copy_seconds": copied,
        "copy_bytes": copy_bytes, "responses_now": now, "parts": parts,
    }  # fmt: skip


def _release(study, choices, root: Path, with_layout: bool) -> tuple[dict, dict[str, float]]:
    from datetime import date

    from analysis.inputs import snapshots
    from analysis.releases.contents import release_contents
    from analysis.releases.formats import release_writer
    from analysis.releases.formats.about import About

    root.mkdir(parents=True)
    about = About("large", 1, "Large", date(2026, 1, 1), "CC-BY-4.0")
    ends: dict[str, float] = {}
    began = time.perf_counter()
    with snapshots.repeatable_read():
        contents = release_contents.read_contents(study=study, choices=choices, release="1")
        ends["looking"] = time.perf_counter() - began
        tables = [table for table in contents.tables if table.name in {"responses", "log_events"}]
        manifest = release_writer.write_files(
            root, tables, about, layout=contents.layout if with_layout else (),
            report=lambda table, _rows: ends.update({table: time.perf_counter() - began}),
        )  # fmt: skip
    return manifest, ends


def _keep_writing(done: threading.Event) -> None:
    """Keep adding responses; none of them may appear in the release."""
    from django.db import connection
    from django.utils import timezone

    from crowdrag.studies.models import Study
    from writing.models import Response

    study = Study.objects.get(slug="large")
    model = study.participants.get(external_id="m")
    topic, style = study.topics.first(), study.styles.first()
    n = 0
    while not done.wait(0.05):
        n += 1
        Response.objects.create(
            study=study, external_id=f"late{n}", topic=topic, style=style, participant=model, origin="MODEL",
            text="late", words=1, created_at=timezone.now(),
        )  # fmt: skip
    connection.close()


def _copied(connection, root: Path, rows: dict[str, int]) -> tuple[float, int]:
    """Insert the release's rows into tables, and copy them with gzip at the same level."""
    import pyarrow.parquet as pq

    kinds = {"int64": "bigint", "double": "double precision", "bool": "boolean", "timestamp[us, tz=UTC]": "timestamptz"}
    with connection.cursor() as cursor:
        for name in rows:
            file = pq.ParquetFile(root / f"parquet/{name}.parquet")
            columns = [(f'"{field.name}"', kinds.get(str(field.type), "text")) for field in file.schema_arrow]
            cursor.execute(f"CREATE UNLOGGED TABLE bench_{name} ({', '.join(' '.join(each) for each in columns)})")
            with cursor.copy(f"COPY bench_{name} FROM STDIN") as copy:
                for batch in file.iter_batches(20_000):
                    for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                        copy.write_row(row)
        size = 0
        began = time.perf_counter()
        for name in rows:
            with (
                gzip.open(root / f"{name}.copy.gz", "wb", compresslevel=6) as out,
                cursor.copy(f"COPY bench_{name} TO STDOUT") as copy,
            ):
                for data in copy:
                    size += len(data)
                    out.write(data)
        return time.perf_counter() - began, size


def _unpacked(root: Path) -> int:
    """Return the unpacked size of the tables' JSON lines in bytes."""
    size = 0
    for path in (root / "jsonl").glob("*.gz"):
        with gzip.open(path) as file:
            while data := file.read(1 << 20):
                size += len(data)
    return size

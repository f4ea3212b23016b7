"""What the journals say was acknowledged, compared with a database: the system's at the end, or a restored backup."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

import psycopg

from bench.chaos import client, study
from writing.editor import codec

Line = dict[str, Any]
#: States of a judge's and of a writer's work in which it was submitted.
JUDGED = ("SUBMITTED", "ACCEPTED", "REJECTED", "SURPLUS")
WRITTEN = ("SUBMITTED", "ACCEPTED", "REJECTED", "REVISION")
HOLDING = ("ASSIGNED", "SUBMITTED", "ACCEPTED")
EXAMPLES = 5


@dataclass
class Row:
    """One kind of acknowledged work: how much, and what of it is not in the database as it was acknowledged."""

    name: str
    acknowledged: int
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    #: None where nothing can be assigned too often, or too seldom.
    over: list[str] | None = None
    under: list[str] | None = None

    @property
    def faults(self) -> list[str]:
        """Return examples of everything that must not be."""
        groups = {
            "lost": self.lost,
            "doubled": self.doubled,
            "over-assigned": self.over or [],
            "left": self.under or [],
        }
        return [f"{self.name}, {name}: {one}" for name, group in groups.items() for one in group[:EXAMPLES]]


def compare(url: str, lines: list[Line], *, until: float | None = None) -> list[Row]:
    """Compare journals with the database at this address.

    `until`, in seconds of the monotonic clock, is the time at which a backup began: whatever was acknowledged before it
    must be in it. Places left and doubled runs are only told at the end of a run (`until` is None).
    """
    if until is not None:
        lines = [line for line in lines if line["at"] < until]
    of: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        of[line["what"]].append(line)
    with psycopg.connect(url) as connection:
        rows = [*_judging(connection, of), *_writing(connection, of), *_runs(connection, of, is_end=until is None)]
        if until is None:
            _places(connection, rows[0])
            _tasks(connection, next(row for row in rows if row.name == "writing tasks claimed"))
            rows.append(_model_answers(connection))
    return rows


def _judging(connection: psycopg.Connection[Any], of: dict[str, list[Line]]) -> list[Row]:
    state = dict(connection.execute("SELECT external_id, state FROM annotation_assignment").fetchall())
    claimed = Row("questionnaires claimed", len({line["assignment"] for line in of["claimed"]}), over=[], under=[])
    claimed.lost = sorted({line["assignment"] for line in of["claimed"]} - state.keys())
    claimed.doubled = [
        f"participant {person} has questionnaire {sheet} {n} times"
        for person, sheet, n in connection.execute(
            "SELECT participant_id, questionnaire_id, count(*) FROM annotation_assignment WHERE state <> 'WITHDRAWN' "
            "GROUP BY 1, 2 HAVING count(*) > 1"
        )
    ]
    claimed.over = [
        f"questionnaire {sheet} is held by {n} judges"
        for sheet, n in connection.execute(
            "SELECT questionnaire_id, count(*) FROM annotation_assignment a "
            "JOIN annotation_questionnaire q ON q.id = a.questionnaire_id "
            "JOIN annotation_campaign c ON c.id = q.campaign_id "
            "WHERE a.state = ANY(%s) AND c.has_slots GROUP BY questionnaire_id, c.k HAVING count(*) > c.k",
            [list(HOLDING)],
        )
    ]
    stored = {
        (name, item, dimension): (revision, value)
        for name, item, dimension, revision, value in connection.execute(
            "SELECT a.external_id, j.item_id, j.dimension_id, j.revision, j.value FROM annotation_judgment j "
            "JOIN annotation_assignment a ON a.id = j.assignment_id WHERE j.repeat = 0 AND a.external_id <> ''"
        )
    }
    latest = {(one["assignment"], one["item"], one["dimension"]): one for one in of["answered"]}
    answers = Row("answers of judges", len(of["answered"]))
    for key, one in latest.items():
        revision, value = stored.get(key, (0, None))
        if revision < one["revision"] or (revision == one["revision"] and value != one["value"]):
            answers.lost.append(f"{key}: {one['revision']}, {one['value']} against {revision}, {value}")
    submitted = Row("questionnaires submitted", len({line["assignment"] for line in of["submitted"]}))
    submitted.lost = [
        f"{name} is {state.get(name)}"
        for name in sorted({line["assignment"] for line in of["submitted"]})
        if state.get(name) not in JUDGED
    ]
    submitted.doubled = _submitted_twice(connection)
    decided = Row("decisions about judging", len(of["decided"]))
    last = {line["assignment"]: line["state"] for line in of["decided"]}
    decided.lost = [
        f"{name} is {state.get(name)}, not {told}" for name, told in last.items() if state.get(name) != told
    ]
    return [claimed, answers, submitted, decided]


def _submitted_twice(connection: psycopg.Connection[Any]) -> list[str]:
    """Return which questionnaires were submitted again without having been anything else in between."""
    query = (
        "SELECT assignment_id FROM (SELECT assignment_id, after, "
        "lag(after) OVER (PARTITION BY assignment_id ORDER BY id) AS last FROM annotation_assignmenttransition) moves "
        "WHERE after = 'SUBMITTED' AND last = 'SUBMITTED'"
    )
    return [f"assignment {pk}" for (pk,) in connection.execute(query)]


def _writing(connection: psycopg.Connection[Any], of: dict[str, list[Line]]) -> list[Row]:
    state = dict(connection.execute("SELECT external_id, state FROM writing_writingtask").fetchall())
    took = {line["task"] for line in of["took"]}
    claimed = Row("writing tasks claimed", len(took), over=[])
    claimed.lost = sorted(task for task in took if state.get(task) in (None, "OPEN"))
    stored, events = _log(connection, of["stored"])
    text = dict(
        connection.execute(
            "SELECT t.external_id, r.text FROM writing_response r JOIN writing_writingtask t ON t.id = r.task_id"
        ).fetchall()
    )
    handed = Row("responses submitted", len(of["handed in"]))
    handed.lost = [
        f"{line['task']} is {state.get(line['task'])}"
        for line in of["handed in"]
        if state.get(line["task"]) not in WRITTEN or text.get(line["task"]) != line["text"]
    ]
    reviewed = Row("decisions about writing", len(of["reviewed"]))
    last = {line["task"]: line["state"] for line in of["reviewed"]}
    reviewed.lost = [
        f"{name} is {state.get(name)}, not {told}" for name, told in last.items() if state.get(name) != told
    ]
    return [claimed, stored, events, handed, reviewed]


def _log(connection: psycopg.Connection[Any], lines: list[Line]) -> tuple[Row, Row]:
    """Return the batches and the events of the editor.

    Batches of a submitted task are merged into larger ones, so only their events are compared. A batch that does not
    begin where the last one ended counts as doubled.
    """
    stored = Row("batches of the editor", len(lines))
    events = Row("events of the editor", sum(line["events"] for line in lines))
    acknowledged: dict[tuple[str, int], list[Line]] = defaultdict(list)
    for line in lines:
        acknowledged[line["task"], line["session"]].append(line)
    rows = connection.execute(
        "SELECT t.external_id, b.session, b.number, b.first_event, b.payload, b.codec FROM writing_logbatch b "
        "JOIN writing_writinglog l ON l.id = b.log_id JOIN writing_writingtask t ON t.id = l.task_id "
        "ORDER BY t.id, b.session, b.first_event, b.number"
    )
    for (task, session), batches in groupby(rows, key=lambda row: (row[0], row[1])):
        log: list[Any] = []
        for _task, _session, number, first, payload, version in batches:
            if first != len(log):
                stored.doubled.append(f"{task} session {session} batch {number}")
            log += codec.unpack(bytes(payload), version)
        _note_lost(stored, events, acknowledged.pop((task, session), []), log)
    for missing in acknowledged.values():
        _note_lost(stored, events, missing, [])
    return stored, events


def _note_lost(stored: Row, events: Row, lines: list[Line], log: list[Any]) -> None:
    """Note which batches are not in the log of their session."""
    for line in lines:
        if client.digest(log[line["first"] : line["first"] + line["events"]]) != line["digest"]:
            name = f"{line['task']} session {line['session']} batch {line['number']}"
            stored.lost.append(name)
            events.lost += [name] * line["events"]


def _runs(connection: psycopg.Connection[Any], of: dict[str, list[Line]], *, is_end: bool) -> list[Row]:
    """Compare runs and releases. Until the end, some may have begun whose acknowledgement is under way."""
    rows = connection.execute("SELECT key::text, state, kind FROM jobs_run").fetchall()
    state = {key: (now, kind) for key, now, kind in rows}
    started = Row("runs started", len(of["started"]))
    started.lost = [line["run"] for line in of["started"] if line["run"] not in state]
    done = Row("runs done", len({line["run"] for line in of["done"]}))
    done.lost = [run for run in {line["run"] for line in of["done"]} if state.get(run, ("",))[0] != "DONE"]
    # Each order was sent under a key until it was answered: of the kinds that nothing else starts there are no others.
    by_people = {kind for run in of["started"] if (kind := state.get(run["run"], ("", ""))[1])} - {"analysis"}
    extra = [key for key, (_now, kind) in state.items() if kind in by_people]
    if is_end:
        started.doubled = sorted(set(extra) - {line["run"] for line in of["started"]})
    releases = dict(connection.execute("SELECT number, (state, digest)::text FROM analysis_release").fetchall())
    published = Row("releases published", len(of["published"]))
    published.lost = [
        f"release {line['release']} is {releases.get(line['release'])}"
        for line in of["published"]
        if releases.get(line["release"]) != f"(PUBLISHED,{line['digest']})"
    ]
    drafted = Counter(line["release"] for line in of["drafted"])
    drafts = Row("releases drafted", len(of["drafted"]))
    drafts.lost = [f"release {number}" for number in drafted if number not in releases]
    if is_end:
        drafts.doubled = [f"release {number}" for number in releases.keys() - drafted.keys()]
    files = Row("files of releases downloaded", len(of["downloaded"]))
    files.lost = [f"release {line['release']}: {line['path']}" for line in of["downloaded"] if not line["is_right"]]
    return [started, done, drafts, published, files]


def _places(connection: psycopg.Connection[Any], row: Row) -> None:
    """Add the places of the judges' campaign that nobody filled, though judges asked until there was none."""
    row.under = [
        f"questionnaire {sheet} has {n} judges"
        for sheet, n in connection.execute(
            "SELECT q.id, count(a.id) FILTER (WHERE a.state = ANY(%s)) FROM annotation_questionnaire q "
            "JOIN annotation_campaign c ON c.id = q.campaign_id "
            "LEFT JOIN annotation_assignment a ON a.questionnaire_id = q.id "
            "WHERE c.k = %s AND c.has_slots GROUP BY q.id HAVING count(a.id) FILTER (WHERE a.state = ANY(%s)) < %s",
            [list(HOLDING), study.K, list(HOLDING), study.K],
        )
    ]


def _tasks(connection: psycopg.Connection[Any], row: Row) -> None:
    """Add topics that have more accepted or waiting responses than were asked for."""
    row.over = [
        f"topic {topic} has {n} writers"
        for topic, n in connection.execute(
            "SELECT topic_id, count(*) FROM writing_writingtask WHERE state IN ('CLAIMED', 'SUBMITTED', 'ACCEPTED') "
            "AND NOT is_trial AND NOT is_imported AND revises_id IS NULL GROUP BY 1, style_id HAVING count(*) > 1"
        )
    ]


def _model_answers(connection: psycopg.Connection[Any]) -> Row:
    """Return the answers of models, each of which must be stored once."""
    (count,) = connection.execute("SELECT count(*) FROM annotation_judginganswer").fetchone() or (0,)
    row = Row("answers of models", count)
    row.doubled = [
        f"item {item} of judge {judge}: {n} times"
        for item, judge, n in connection.execute(
            "SELECT item_id, participant_id, count(*) FROM annotation_judginganswer "
            "GROUP BY item_id, participant_id, repeat, dimension_id HAVING count(*) > 1"
        )
    ]
    return row


@dataclass(frozen=True)
class Money:
    """The ledger against the bill, in minor units."""

    billed: Decimal
    requests: int
    booked: Decimal
    attempts: int
    unknown: int
    #: Whether the study's counter is the sum of its attempts, and its budget holds.
    is_balanced: bool
    is_within_budget: bool

    @property
    def is_well(self) -> bool:
        """Whether nothing that was billed is missing in the ledger."""
        return (
            self.is_balanced and self.is_within_budget and self.billed <= self.booked and self.requests <= self.attempts
        )


def money(url: str, bill: Path) -> Money:
    """Compare the ledger of the study with the bill of the model server."""
    lines = [json.loads(line) for line in bill.read_text().splitlines()] if bill.exists() else []
    billed = sum(
        (Decimal(each["prompt"] * study.INPUT_PRICE + each["completion"] * study.OUTPUT_PRICE) for each in lines),
        Decimal(0),
    ) / Decimal(1_000_000)
    with psycopg.connect(url) as connection:
        booked, attempts, unknown = connection.execute(
            "SELECT coalesce(sum(cost), 0), count(*), count(*) FILTER (WHERE state IN ('INTENDED', 'UNKNOWN')) "
            "FROM llm_attempt"
        ).fetchone() or (Decimal(0), 0, 0)
        held, settled = connection.execute("SELECT held, settled FROM llm_studyspend").fetchone() or (0, 0)
    total = Decimal(held) + Decimal(settled)
    return Money(billed, len(lines), booked, attempts, unknown, total == booked, total <= study.BUDGET)


def stuck(url: str) -> dict[str, int]:
    """Count what is still held by nobody, or not ended, at the end."""
    queries = {
        "units of runs not ended": "SELECT count(*) FROM jobs_unit WHERE state IN ('PENDING', 'CLAIMED')",
        "runs not ended": "SELECT count(*) FROM jobs_run WHERE state IN ('PLANNED', 'RUNNING')",
        "questionnaires past their lease": "SELECT count(*) FROM annotation_assignment WHERE state = 'ASSIGNED' "
        "AND lease_until < now() - interval '1 minute'",
        "writing tasks past their lease": "SELECT count(*) FROM writing_writingtask WHERE state = 'CLAIMED' "
        "AND lease_until < now() - interval '1 minute'",
    }
    with psycopg.connect(url) as connection:
        return {name: (connection.execute(query).fetchone() or (0,))[0] for name, query in queries.items()}


def files(url: str, folder: Path) -> Row:
    """Return the files of finished runs, by their sums."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT file, sha256 FROM jobs_artifact").fetchall()
    row = Row("files of runs", len(rows))
    for name, digest in rows:
        path = folder / name
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            row.lost.append(name)
    return row

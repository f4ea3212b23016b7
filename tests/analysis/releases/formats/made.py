"""Tables with every type of column, full of hostile texts, and a release of them on the disk."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from analysis.releases.contents.content_table import ContentColumn, ContentTable, Row
from analysis.releases.formats import release_writer
from analysis.releases.formats.about import About, Creator, SourceRun
from tests.analysis.reports import hostile
from tests.analysis.whole_study import HOSTILE

# Every character that PostgreSQL can hold and a writer may stumble over, alone and in front of a formula.
CONTROLS = [chr(n) for n in (*range(1, 32), *range(0x7F, 0xA0), 0xAD, 0x2028, 0x2029, 0x202E, 0xFEFF, 0xFFFE, 0xFFFF)]
FORMULAS = [
    f"{before}{sign}1+1"
    for sign in "=+-@＝＋－＠"
    for before in ("", " ", "'", "''", '"', "\u200b", "\t", "\r\n", "a;")
]
TEXTS = [
    *hostile.ALL,
    HOSTILE,
    *CONTROLS,
    *(f"{each}=1+1" for each in CONTROLS),
    *FORMULAS,
    "\n\n=1;=2\t'=3",
    "- a\n- b",
]
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def text(name: str, **more: Any) -> ContentColumn:
    return ContentColumn(name, "text", nullable=False, meaning=f"The {name}.", **more)


_VERSION = ContentColumn("topic_version", "integer", nullable=False, meaning="Which version of the topic.")
TOPICS = ContentTable(
    "topics",
    "A topic.",
    (text("topic"), _VERSION, text("query", is_free_text=True)),
    lambda: ({"topic": f"t{n}", "topic_version": 1, "query": query} for n, query in enumerate(TEXTS)),
    key=("topic", "topic_version"),
)


def _responses() -> Iterator[Row]:
    for n, each in enumerate(TEXTS):
        yield {
            "response": f"r{n}",
            "topic": f"t{n}",
            "text": each,
            "note": each if n % 3 else None,
            "words": n - 5 if n % 2 else None,
            "merit": -n / 7 if n % 3 else None,
            "included": n % 2 == 0 if n % 5 else None,
            "at": NOON + timedelta(microseconds=n) if n % 4 else None,
            "answers": [None, {each: [each, n, 0.1, True, None]}, -n, each][n % 4],
            "cited": [each, "", "x"][: n % 4] if n % 7 else None,
            "origin": "HUMAN" if n % 2 else "MODEL",
        }


RESPONSES = ContentTable(
    "responses",
    "A response to a topic.",
    (
        text("response"),
        text("topic", refers_to="topics.topic"),
        text("text", is_free_text=True),
        ContentColumn("note", "text", nullable=True, meaning="A note.", is_free_text=True),
        ContentColumn("words", "integer", nullable=True, meaning="How many words it has."),
        ContentColumn("merit", "number", nullable=True, meaning="How good it is."),
        ContentColumn("included", "boolean", nullable=True, meaning="Whether it counts."),
        ContentColumn("at", "time", nullable=True, meaning="When it was handed in."),
        ContentColumn("answers", "json", nullable=True, meaning="What its writer said."),
        ContentColumn("cited", "texts", nullable=True, meaning="The ids of what it cites."),
        text("origin", values=("HUMAN", "MODEL")),
    ),
    _responses,
    key=("response",),
)
EMPTY = ContentTable("judgments", "A judgment.", (text("judgment"),), lambda: iter(()))
TABLES = (TOPICS, RESPONSES, EMPTY)
ABOUT = About(
    slug="cats",
    version=2,
    title='Cats & <b>"dogs"</b>',
    released=date(2026, 11, 22),
    licence="CC-BY-4.0",
    description="Who writes *better*?\n\n- a list",
    creators=(Creator("Ann O'Nym", "0000-0002-1825-0097", "The University"), Creator("B. C.")),
    contact="ann@example.org",
    address="https://crowdrag.example/releases/cats/2",
    doi="10.5555/cats",
    code_version="0.1.0",
    runs=(SourceRun("analysis.analyse", "k1", "ab" * 32, "0.1.0", "2026-11-01T00:00:00Z", 7, {"resamples": 10}),),
)


def release(folder: Path, tables: tuple[ContentTable, ...] = TABLES, **about: Any) -> dict[str, Any]:
    """Write a release and return its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    return release_writer.write_files(folder, tables, replace(ABOUT, **about))


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def cells_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))

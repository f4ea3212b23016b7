"""The editor takes a text apart exactly as the server does: the same texts through both."""

import gzip
import json
import os
import random
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.text import statements
from tests.js import node

BRACKETS = [
    "[",
    "]",
    "[]",
    "[0]",
    "[1][2]",
    "[19]",
    "[20]",
    "[0-3]",
    "[5–3]",
    "[007]",
    "[0.1]",
    "[12",
    "[99999999999]",
    "[0-999999999]",
    "[٣]",
]
SPACED = ["[ ]", "[3, 7]", "[1 4;16,]", "[3\u3000,\u00a04]"]
MARKS = [
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    ", ",
    "; ",
    ".",
    "?",
    "\u2026",
    '"',
    "\u201d",
    "\u00bb",
    ")",
    "(",
    "-",
    "_",
    "\x00",
]
BLANKS = list("\u0085\u00a0\u1680\u2003\u2028\u3000\ufeff\u200b\x1c\x1f\x0b\x0c")
WORDS = [
    "word",
    "Wort.",
    "W\u00f6rter",
    "\u65e5\u672c\u8a9e",
    "\u0639\u0631\u0628\u064a",
    "e\u0301",
    "\u00bd",
    "\u2167",
    "7",
    "\u0663",
]
HUGE = ["[99999999999]", "[0-999999999]"]
EMOJI = ["\U0001f600", "\U0001f468\u200d\U0001f469"]
PIECES = [*BRACKETS, *HUGE, *SPACED, *MARKS, *BLANKS, *WORDS, *EMOJI]
SEPARATORS = "".join(chr(code) for code in range(0x3100) if chr(code).isspace())


def random_text(rng: random.Random) -> str:
    """Pieces that matter to the grammar, with any character of Unicode that has a meaning among them."""
    parts = []
    for _ in range(rng.randrange(24)):
        if rng.random() < 0.15:
            character = chr(rng.randrange(0x11000))
            if unicodedata.category(character) not in {"Cn", "Cs", "Co"}:
                parts.append(character)
        else:
            parts.append(rng.choice(PIECES))
    return "".join(parts)


def ours(text: str, passages: int) -> list[Any]:
    parsed = statements.parse(text, passages=passages)
    spans = [
        [s.start, s.end, s.body, s.closing, list(s.citations), s.marker_start, s.marker_end] for s in parsed.statements
    ]
    return [spans, parsed.dropped, parsed.repeated, parsed.words]


@pytest.fixture
def parse() -> Iterator[node.Ask]:
    with node.script("editor/parse_texts.js") as ask:
        yield ask


def compare(parse: node.Ask, texts: list[str], passages: int = 20) -> None:
    theirs = parse({"texts": texts, "passages": passages})
    for text, found in zip(texts, theirs, strict=True):
        assert found == ours(text, passages), repr(text)


def random_texts(parse: node.Ask, count: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(count // 1000):
        compare(parse, [random_text(rng) for _ in range(1000)], rng.choice([0, 1, 20]))


def test_random_texts(parse: node.Ask) -> None:
    random_texts(parse, 3000, 1)


@pytest.mark.soak
def test_many_random_texts(parse: node.Ask) -> None:
    random_texts(parse, 100_000, int(os.environ.get("SEED", "2")))


def test_every_kind_of_blank(parse: node.Ask) -> None:
    texts = [
        f"a{blank}b {blank}[1{blank},{blank}2]{blank}. {blank}c{blank}" for blank in SEPARATORS + "\ufeff\u200b\u180e"
    ]
    compare(parse, texts)


def test_published_responses(parse: node.Ask) -> None:
    data = os.environ.get("CROWDRAG_DATA")
    if not data:
        pytest.skip("CROWDRAG_DATA is not set")
    with gzip.open(Path(data) / "crowdrag25/raw/study1_responses_llm.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    assert len(texts) > 300
    compare(parse, texts)

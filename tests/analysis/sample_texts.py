"""The texts of the sample of CrowdRAG-25, read from its files without any code of ours but the parser of citations."""

import gzip
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from analysis.text.statements import ParsedResponse, parse

DATA = os.environ.get("CROWDRAG_DATA")


@dataclass(frozen=True)
class Text:
    """A response as it was submitted."""

    name: str
    topic: str
    style: str
    origin: str
    text: str
    passages: tuple[str, ...]

    @property
    def parsed(self) -> ParsedResponse:
        return parse(self.text, passages=len(self.passages))


@cache
def texts() -> list[Text]:
    """Every response to a topic of the sample, topic by topic."""
    passages = {row["topic"]: tuple(row["references_texts"]) for row in _rows("raw/study1_retrieval")}
    last: dict[str, dict[str, Any]] = {}
    for row in _rows("raw/study1_responses_human"):
        if row["response"] not in last or row["timestamp"] >= last[row["response"]]["timestamp"]:
            last[row["response"]] = row | {"origin": "human"}
    models = [row | {"origin": "model"} for row in _rows("raw/study1_responses_llm")]
    found = [
        Text(row["response"], row["topic"], row["style"], row["origin"], row["text"], passages[row["topic"]])
        for row in [*last.values(), *models]
        if row["topic"] in passages
    ]
    return sorted(found, key=lambda each: (each.topic, each.name))


@cache
def judged() -> set[str]:
    """The responses that people compared."""
    return {row[side] for row in _rows("raw/study2_responses") for side in ("response_a", "response_b")}


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(DATA or "", "crowdrag25", f"{name}.jsonl.gz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]

"""The published data sets of the alternative annotator test that are at hand, with the authors' results."""

import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from analysis.stats.alternative_annotator import Scoring

FOLDER = Path(os.environ.get("CROWDRAG_DATA", "")) / "alt_test"
NAMES = ("wax", "mtbench", "10k_prompts", "lesion")
needs_data = pytest.mark.skipif(
    not os.environ.get("CROWDRAG_DATA"), reason="CROWDRAG_DATA is not set: the published annotations are not here"
)
PEOPLE, JUDGES = "human_annotations.json.gz", "llm_annotations.json.gz"


@dataclass(frozen=True)
class Published:
    """A data set: labels by annotator and item, and [winning rate, advantage probability] by judge."""

    people: dict[str, dict[str, Any]]
    judges: dict[str, dict[str, Any]]
    scoring: Scoring
    epsilon: float
    published: dict[str, list[float]]


def read(name: str) -> Published:
    published = json.loads((FOLDER / "published.json").read_text())[name]
    people, judges = (json.loads(gzip.decompress((FOLDER / name / file).read_bytes())) for file in (PEOPLE, JUDGES))
    scoring = Scoring(published["scoring"].removeprefix("neg_"))
    return Published(people, judges, scoring, published["epsilon"], published["judges"])

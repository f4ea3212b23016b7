"""The published logs: snapshots of 450 responses being written."""

import gzip
import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from analysis.writing_process import Thresholds, activity, provenance, signals
from analysis.writing_process.events import read
from writing.editor import codec

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(
        "CROWDRAG_DATA" not in os.environ, reason="CROWDRAG_DATA is not set: the published corpus is not here"
    ),
]


def lines(name):
    with gzip.open(Path(os.environ["CROWDRAG_DATA"]) / "crowdrag25" / "raw" / f"{name}.jsonl.gz", "rt") as file:
        yield from map(json.loads, file)


@pytest.fixture(scope="module")
def logs():
    texts, topics = defaultdict(list), {}
    for row in lines("study1_responses_human"):
        texts[row["response"]].append((row["timestamp"], row["text"]))
        topics[row["response"]] = row["topic"]
    passages = {row["topic"]: row["references_texts"] for row in lines("study1_retrieval")}
    return [(codec.encode(seen), passages[topics[name]], seen[-1][1]) for name, seen in texts.items()]


def test_active_time_is_near_the_published_mean(logs):
    """The paper reports 10:22 minutes a response; snapshots end long before a tab is closed, and idle time is a cut."""
    minutes = {
        idle: np.mean([activity(events, thresholds=Thresholds(idle=idle)).active_seconds for events, _, _ in logs]) / 60
        for idle in (30_000, 60_000)
    }
    assert minutes[30_000] == pytest.approx(8.26, abs=0.01)
    assert minutes[60_000] == pytest.approx(11.45, abs=0.01)
    assert minutes[30_000] < 10 + 22 / 60 < minutes[60_000]


def test_every_log_is_accounted_for_to_the_last_character(logs):
    for events, passages, text in logs[::6]:
        log = read(events)
        origins, pace = provenance(log, passages), activity(log)
        assert origins.text == text
        assert sum(origins.characters.values()) == pace.kept == len(text)
        for signal in signals(log, passages, text):
            assert signal.level in {"none", "note", "cannot say"}


def test_much_of_the_corpus_came_at_once_and_a_part_of_that_from_passages(logs):
    """What the snapshots show without knowing of the clipboard: figures of the method page."""
    shares, from_passages, total = [], 0, 0
    for events, passages, _ in logs:
        found = provenance(events, passages)
        shares.append(found.at_once_share)
        total += sum(each.survived for each in found.arrivals)
        from_passages += sum(each.survived for each in found.arrivals if each.place is not None and each.place >= 0)
    assert np.nanmedian(shares) == pytest.approx(0.92, abs=0.01)
    assert np.mean(np.array(shares) > 0.5) == pytest.approx(0.72, abs=0.01)
    assert from_passages / total == pytest.approx(0.79, abs=0.01)

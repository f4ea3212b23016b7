"""Calls of an experiment in flight: a fair RAG run against servers that behave as vLLM does, over what they can take.

The run is started as researchers do it, on a separate database and broker, through the gateway, and worked on by one
process. The servers are separate processes (`tests/llm/model_server.py`): a call takes a second with a full batch.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from bench._system import system

SLOTS, SECONDS, FAULTS = 256, 1.0, 0.005
QUERIES, ITEMS, SAMPLES, CUT, ALPHAS = 170, 12, 6, 5, (1.0, 8.0)
RETRIEVERS = ("given",)
WORDS = ("alder", "birch", "cedar", "dogwood", "noise", "")
TARGET = 0.9


def run() -> list[dict]:
    """Measure with one server of 256 slots and with two of 128, in a separate folder."""
    with system() as folder:
        return [_one(folder.root, servers) for servers in (1, 2)]


def _one(data: Path, count: int) -> dict[str, Any]:
    from tests.llm.model_server import ModelServer

    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                ModelServer(
                    slots=SLOTS // count,
                    seconds=SECONDS,
                    faults=FAULTS,
                    answer="tests.analysis.rag.fair_rag.planted:reply",
                )
            )
            for _number in range(count)
        ]
        cpu = time.process_time()
        seconds = _worked_on(data, [server.url for server in servers])
        cpu = time.process_time() - cpu
        figures = [server.figures() for server in servers]
    calls = sum(each["calls"] for each in figures)
    by_server = " and ".join(f"{each['calls']:,.0f}" for each in figures)
    ideal = calls / SLOTS * SECONDS
    began, ended = min(each["first"] for each in figures), max(each["last"] for each in figures)
    mean = sum(each["in_flight_seconds"] for each in figures) / (ended - began)
    return {
        "name": f"{count} server{'s' * (count > 1)} with {SLOTS // count} slots: time of full batches over the run's",
        "ratio": ideal / seconds,
        "target": TARGET,
        "detail": f"{calls:,.0f} calls of {SECONDS:g} s in {seconds:.1f} s (at best {ideal:.1f} s), {mean:.0f} in "
        f"flight on average, {by_server} of each server, "
        f"{sum(each['faults'] for each in figures):.0f} faults, {cpu:.1f} s of the processor in this process, load "
        f"average {os.getloadavg()[0]:.1f}",
    }


def _worked_on(data: Path, urls: list[str]) -> float:
    """Start a run, process it, and return the seconds that it took."""
    from analysis.experiments import services
    from analysis.experiments.experiment import get
    from crowdrag.jobs import lifecycle, run_files
    from crowdrag.jobs.enums import RunState
    from crowdrag.llm.models import Endpoint
    from tests.factories import StudyFactory

    study: Any = StudyFactory()
    name = f"bench-{len(urls)}"
    path = data / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, _questions())))
    Endpoint.objects.create(
        name=name, base_url=urls[0], more_urls="\n".join(urls[1:]), model="m", is_local=True, is_allowed=True,
        concurrency=SLOTS // len(urls),
    )  # fmt: skip
    upload = run_files.store_upload(study=study, source=path)
    given = {
        "generator": f"endpoint:{name}", "collection": {"source": "qa", "upload": upload.pk}, "samples": SAMPLES,
        "retrievers": list(RETRIEVERS), "alphas": list(ALPHAS), "k": CUT, "entailment": "", "resamples": 10,
    }  # fmt: skip
    made = services.start(services.order(get("fair"), study, given))
    began = time.perf_counter()
    made = lifecycle.wait(made)
    seconds = time.perf_counter() - began
    assert made.state == RunState.DONE, (made.error, made.problems)
    return seconds


def _questions() -> list[dict]:
    from tests.analysis.rag.fair_rag.planted import query

    rng = np.random.default_rng(0)
    lines = []
    for number in range(QUERIES):
        made = query(f"q{number}", rng.permutation([*WORDS, *WORDS][:ITEMS]).tolist())
        documents = [{"id": each.id, "text": each.text, "score": float(rng.normal())} for each in made.documents]
        lines.append(
            {"id": made.id, "question": made.question, "golden_answers": list(made.answers), "documents": documents}
        )
    return lines

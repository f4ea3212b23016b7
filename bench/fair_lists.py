"""Generator calls of a fair RAG run, as its server counts them: labels and distinct top-k lists, and no more.

The run is started as researchers do it, on a separate database and broker, through the gateway. The server answers at
once and records every request. The expected requests are counted independently, from all sampled rankings before they
become prompts.
"""

from __future__ import annotations

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from bench._system import system

QUERIES, ITEMS, SAMPLES, CUT, ALPHAS = 4, 12, 100, 5, (1.0, 2.0, 4.0, 8.0)
RETRIEVERS = ("given", "bm25", "bm25:all")
WORDS = ("alder", "birch", "cedar", "dogwood", "noise", "")


def run() -> list[dict]:
    """Measure once in a separate folder."""
    with system() as folder, Counting() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            return _rows(server, folder.root)
        finally:
            server.shutdown()


def _rows(server: Counting, data: Path) -> list[dict]:
    from analysis.models import ResultTable

    began = time.perf_counter()
    made = _worked_on(server, data)
    seconds = time.perf_counter() - began
    labelled, lists, rankings = _wanted(made)
    costs = {row["step"]: row for row in ResultTable.objects.get(run=made, name="fair_costs").rows}
    # Prompts of labels show at most one document; every list of the run is longer.
    alone = sum(asked.count("text ") <= 1 for asked in server.seen)
    detail = f"{seconds:.0f} s, load average {os.getloadavg()[0]:.1f}"
    return [
        {
            "name": f"distinct lists over calls, {QUERIES} queries, {len(RETRIEVERS)} retrievers, n = {ITEMS}",
            "ratio": (labelled + lists) / len(server.seen),
            "target": 1.0,
            "detail": f"{len(server.seen):,} requests came for {labelled:,} labels and {lists:,} distinct lists of "
            f"{rankings:,} rankings ({lists / rankings:.0%}), {detail}",
        },
        {
            "name": "distinct requests over requests",
            "ratio": len(set(server.seen)) / len(server.seen),
            "target": 1.0,
            "detail": f"{len(set(server.seen)):,} differ",
        },
        {
            "name": "Q x (D + 1) over calls for utility labels",
            "ratio": QUERIES * (ITEMS + 1) / alone,
            "target": 1.0,
            "detail": f"{alone:,} requests with one document or none; the run says {costs['labels']['prompts']:,}, and "
            f"{costs['rankings']['prompts']:,} with lists",
        },
    ]


def _worked_on(server: Counting, data: Path) -> Any:
    """Start a run with the server's model, process it, and return the finished run."""
    from analysis.experiments import services
    from analysis.experiments.experiment import get
    from crowdrag.jobs import leases, run_files, worker
    from crowdrag.jobs.enums import RunState
    from crowdrag.llm.models import Endpoint
    from tests.factories import StudyFactory

    study: Any = StudyFactory()
    path = data / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, _questions())))
    Endpoint.objects.create(
        name="counting", base_url=server.url, model="m", is_local=True, is_allowed=True, concurrency=8
    )
    upload = run_files.store_upload(study=study, source=path)
    given = {
        "generator": "endpoint:counting", "collection": {"source": "qa", "upload": upload.pk}, "samples": SAMPLES,
        "retrievers": list(RETRIEVERS), "alphas": list(ALPHAS), "k": CUT, "entailment": "", "resamples": 10,
    }  # fmt: skip
    made = services.start(services.order(get("fair"), study, given))
    while (unit := leases.claim(worker="bench", run=made)) is not None:
        worker.execute(unit)
    made.refresh_from_db()
    assert made.state == RunState.DONE, (made.error, made.problems)
    return made


def _questions() -> list[dict]:
    """Questions whose documents each add a word to the answer; some words are correct."""
    from tests.analysis.rag.fair_rag.planted import query

    rng = np.random.default_rng(0)
    lines = []
    for number in range(QUERIES):
        words = rng.permutation([*WORDS, *WORDS][:ITEMS]).tolist()
        made = query(f"q{number}", words)
        documents = [{"id": each.id, "text": each.text, "score": float(rng.normal())} for each in made.documents]
        lines.append(
            {"id": made.id, "question": made.question, "golden_answers": list(made.answers), "documents": documents}
        )
    return lines


def _wanted(made: Any) -> tuple[int, int, int]:
    """Count labels, distinct lists and rankings of the eligible questions from the sampled rankings."""
    from analysis.experiments import question_sets, retrievers, unit_results
    from analysis.rag.fair_rag.rankings import rank
    from analysis.rag.fair_rag.utility import Labels
    from analysis.stats.random_streams import named_rng

    collection = question_sets.of_run(made)
    labels = lists = rankings = 0
    for query in collection.queries:
        labels += len(query.documents) + 1
        found = unit_results.one(made, f"labels:{query.id}")
        if found["reason"]:
            continue
        ranked = rank(
            {name: retrievers.retriever(name, collection).scores(query) for name in RETRIEVERS},
            Labels.read(found).useful, ALPHAS, samples=SAMPLES, k=CUT, budget=None,
            chance=lambda name, about=query.id: named_rng(made.seed, f"fair {about} {name}"),
        )  # fmt: skip
        rankings += sum(len(each.rankings) for each in ranked)
        lists += len({tuple(row) for each in ranked for row in each.rankings.tolist()})
    return labels, lists, rankings


class Counting(ThreadingHTTPServer):
    """A model server that answers with the words of the documents in the prompt and records all requests."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.seen: list[str] = []

    @property
    def url(self) -> str:
        """The server's URL."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Counting

    def log_message(self, *args: object) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        from tests.analysis.rag.fair_rag.planted import answer, said

        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append(json.dumps(body, sort_keys=True))
        text = answer(said(body["messages"][-1]["content"]))
        content = json.dumps(
            {
                "id": "c", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 90, "completion_tokens": 8, "total_tokens": 98},
            }
        ).encode()  # fmt: skip
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        self.wfile.write(head.encode() + content)

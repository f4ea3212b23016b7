"""Models as judges: throughput against a server of known latency, storing included, over what is possible at best.

Separate database and broker; the server is a separate process that answers every question after a fixed latency.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import socket
import time
from typing import Any

from bench._system import system

LATENCY, IN_FLIGHT, CALLS = 0.5, 64, 2000
TARGET = 0.95
DIMENSIONS = 7


def run() -> list[dict]:
    """Measure once in a separate folder."""
    with system("bench._serving"):
        port, server = _serve()
        try:
            return [_one(port, "COMBINED"), _one(port, "INDIVIDUAL")]
        finally:
            server.kill()
            server.join()


def _one(port: int, inference: str) -> dict[str, Any]:
    """Make a fixed number of calls and measure their duration."""
    from annotation.llm_judges import judge_run
    from annotation.llm_judges.run_orders import Order
    from annotation.models import JudgingAnswer, Judgment
    from crowdrag.jobs import leases, worker
    from crowdrag.jobs.enums import RunState
    from crowdrag.llm.models import Endpoint

    questions = 1 if inference == "COMBINED" else DIMENSIONS
    source, prompt = _campaign(-(-CALLS // questions))
    endpoint, _made = Endpoint.objects.get_or_create(
        name="bench",
        defaults={
            "base_url": f"http://127.0.0.1:{port}/v1",
            "model": "m",
            "is_local": True,
            "is_allowed": True,
            "concurrency": IN_FLIGHT,
            "supports_json_schema": True,
        },
    )
    order = Order(
        endpoint=endpoint.pk, prompt=prompt.pk, source=source.pk, inference=inference, which="all", both=False
    )
    started = judge_run.start(study=source.study, order=order)
    calls = sum(len(unit.payload["items"]) for unit in started.units.all()) * questions
    began, cpu = time.perf_counter(), time.process_time()
    while (unit := leases.claim(worker="bench", run=started)) is not None:
        worker.execute(unit)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    started.refresh_from_db()
    assert started.state == RunState.DONE, (started.error, started.problems)
    stored = Judgment.objects.filter(item__campaign__source=source).count()
    assert JudgingAnswer.objects.filter(run=started, outcome="JUDGED").count() == calls
    assert stored == calls // questions * DIMENSIONS
    ideal = -(-calls // IN_FLIGHT) * LATENCY  # whole rounds: no call is faster than its latency
    return {
        "name": f"{inference.lower()}: calls a second, over {IN_FLIGHT} in flight at {LATENCY * 1000:.0f} ms each",
        "ratio": ideal / seconds,
        "target": TARGET,
        "detail": f"{calls} calls and {stored} judgments in {seconds:.1f} s (at best {ideal:.1f} s), "
        f"{cpu:.1f} s of it at work in this process, load average {os.getloadavg()[0]:.1f}",
    }


def _campaign(pairs: int) -> tuple[Any, Any]:
    """Create a campaign for people with this number of pairs of 250 words each and seven questions."""
    from django.utils import timezone

    from annotation.campaigns.default_dimensions import ensure_pairwise
    from annotation.llm_judges import prompts
    from annotation.models import CampaignDimension, Item, Pair
    from tests.factories import CampaignFactory, ResponseFactory, StudyFactory, TopicFactory

    now = timezone.now()
    study = StudyFactory()
    source = CampaignFactory(study=study)
    for position, dimension in enumerate(ensure_pairwise(study=study, now=now)):
        CampaignDimension.objects.create(campaign=source, dimension=dimension, position=position)
    topic = TopicFactory(study=study)
    many = 2
    while many * (many - 1) < pairs:
        many += 1
    words = "Storage costs have fallen since several studies report that grids can rely on batteries [0]. " * 17
    responses = [ResponseFactory(topic=topic, text=f"{words}{number}") for number in range(many)]
    both = [(a, b) for a in responses for b in responses if a is not b][:pairs]
    made = Pair.objects.bulk_create(Pair(study=study, a=a, b=b) for a, b in both)
    Item.objects.bulk_create(Item(campaign=source, pair=pair, topic=topic) for pair in made)
    return source, prompts.ensure(study=study, text=prompts.DEFAULT, now=now)


def _serve() -> tuple[int, multiprocessing.process.BaseProcess]:
    # asyncio sets TCP_NODELAY only if the socket names its protocol; without it, small packets would be delayed.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(256)
    process = multiprocessing.get_context("fork").Process(target=_answer_all, args=(listening,), daemon=True)
    process.start()
    return listening.getsockname()[1], process


def _answer_all(listening: socket.socket) -> None:
    """Answer every request after the latency, with the first option for each question."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                came = asyncio.get_running_loop().time()
                body = json.loads(await reader.readexactly(length))
                properties = body["response_format"]["json_schema"]["schema"]["properties"]
                said = json.dumps({key: one["enum"][0] for key, one in properties.items()})
                content = json.dumps(
                    {
                        "id": "c", "object": "chat.completion", "created": 0, "model": "m",
                        "choices": [{
                            "index": 0, "message": {"role": "assistant", "content": said},
                            "finish_reason": "stop", "logprobs": None,
                        }],
                        "usage": {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980},
                    }
                ).encode()  # fmt: skip
                await asyncio.sleep(LATENCY - (asyncio.get_running_loop().time() - came))
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                # In a single write: otherwise the kernel delays the second packet by 40 ms, until the first is
                # acknowledged.
                writer.write(head % len(content) + content)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(talk, sock=listening, limit=2**20)
        await server.serve_forever()

    asyncio.run(serve())

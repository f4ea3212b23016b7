"""Models as judges: throughput against a server of known speed, storing included, over what is possible at best.

Separate database and broker; the server is a separate process (`tests/llm/model_server.py`).
"""

from __future__ import annotations

import os
import time
from typing import Any

from bench._system import system

LATENCY, IN_FLIGHT, CALLS = 0.5, 64, 2000
TARGET = 0.95
DIMENSIONS = 7


def run() -> list[dict]:
    """Measure once in a separate folder."""
    from tests.llm.model_server import ModelServer

    with system("bench._serving"), ModelServer(slots=IN_FLIGHT, seconds=LATENCY) as server:
        return [_one(server.url, "COMBINED"), _one(server.url, "INDIVIDUAL")]


def _one(url: str, inference: str) -> dict[str, Any]:
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
            "base_url": url,
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
    ideal = calls / IN_FLIGHT * LATENCY  # the batch is always full
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

    from annotation.campaign_types.default_dimensions import ensure_pairwise
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

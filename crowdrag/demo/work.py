"""The demo's long work: a simulated crowd judges, the local model writes what is open, and that is judged as well.

Each step starts the next one when it ends, in the transaction that ends it, so that a demo that was killed anywhere
goes on where it was.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.utils import timezone

from analysis.domain import analysing
from crowdrag.llm.domain import endpoints
from crowdrag.llm.models import Endpoint
from crowdrag.runs.domain import running
from crowdrag.runs.kinds import Work
from crowdrag.runs.models import Run
from writing.domain import generation
from writing.models import Style, Topic

from . import crowd, judging, texts

LOCAL = endpoints.LOCAL_NAME


def plan_writing(run: Run) -> Iterable[dict[str, Any]]:
    """Plan a unit for each slot for which nobody wrote."""
    styles = [Style.objects.filter(study=run.study, name=name).latest("version") for name in texts.STYLES]
    slots = generation.empty_slots(study=run.study, styles=styles)
    return [{"topic": topic.pk, "style": style.pk} for topic, style in slots]


def write(work: Work) -> Callable[[], None]:
    """Have the local model write one response."""
    topic = Topic.objects.get(pk=work.unit.payload["topic"])
    style = Style.objects.get(pk=work.unit.payload["style"])
    work.report(0, 1, f"{topic.external_id}, {style.label}")
    endpoint = Endpoint.objects.get(name=LOCAL)
    slot = generation.slot(topic=topic, style=style)
    try:
        store = generation.write(slot=slot, endpoint=endpoint, study=work.run.study)
    except generation.NoAnswerError as error:
        # A slot that the model cannot fill stays open, and the run says so; the others go on.
        left_open = {f"left open: {topic.external_id}, {style.name}": str(error)}
        return lambda: running.note(run=work.run, summary=left_open)
    return lambda: _store(store)


def _store(store: Callable[[datetime], object]) -> None:
    store(timezone.now())


def after_writing(run: Run) -> None:
    """Let the crowd judge what was written."""
    running.start(study=run.study, kind="demo.judge", by=run.created_by, seed=run.seed)


def judge(work: Work) -> Callable[[], None]:
    """Simulate the crowd's judgments of every pair of responses."""
    topics, expected = judging.responses(work.run.study)
    simulated = crowd.simulate(
        topics,
        rng=np.random.default_rng(work.run.seed),
        opened_at=work.run.created_at - timedelta(days=7),
        settings=judging.SETTINGS,
        expected=expected,
    )
    work.report(1, 2, f"{len(simulated.judgments)} judgments")

    def effect() -> None:
        judging.store(study=work.run.study, simulated=simulated, now=timezone.now())

    return effect


def after_judging(run: Run) -> None:
    """Analyse what the crowd judged."""
    analysing.start(study=run.study, by=run.created_by, seed=run.seed)

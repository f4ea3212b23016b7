"""The demo's long work: a simulated crowd judges, the local model writes what is open, and that is judged as well.

Each step starts the next one when it ends, in the transaction that ends it, so that a demo that was killed anywhere
goes on where it was.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
from django.utils import timezone

from analysis.domain import analysing
from crowdrag.llm.domain import endpoints
from crowdrag.llm.models import Endpoint
from crowdrag.runs.domain import running
from crowdrag.runs.kinds import Work
from crowdrag.runs.models import Run
from crowdrag.studies.models import Study
from writing.domain.generation import campaigns, prompts
from writing.domain.generation.slots import Which
from writing.domain.generation.writers import Form
from writing.models import Style

from . import crowd, judging, texts

LOCAL = endpoints.LOCAL_NAME
# Some warmth, and a penalty on repeating itself, which very small models need.
PARAMETERS = {"temperature": 0.4, "frequency_penalty": 0.6, "max_tokens": 900, "seed": 0}


def order(*, study: Study, now: datetime) -> campaigns.Order:
    """Return what the demo asks the local model for: what people left open, in a form that keeps it to its passages."""
    styles = [Style.objects.filter(study=study, name=name).latest("version") for name in texts.STYLES]
    return campaigns.Order(
        endpoint=Endpoint.objects.get(name=LOCAL).pk,
        prompt=prompts.ensure(study=study, text=prompts.default_text(study), now=now).pk,
        styles=tuple(style.pk for style in styles),
        form=Form.STATEMENTS,
        which=Which.NOBODY,
        parameters=PARAMETERS,
    )


def after_writing(run: Run) -> None:
    """Let the crowd judge what was written."""
    campaigns.finish(run)
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

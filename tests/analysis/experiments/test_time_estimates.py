"""What a run of a model is said to take, against what it takes of a server that takes a known time for each answer."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from analysis.experiments import services
from analysis.experiments.experiment import get
from annotation.enums import Inference
from annotation.llm_judges import judge_run, run_orders
from crowdrag.jobs import lifecycle, run_files
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.llm.enums import AttemptState
from crowdrag.llm.models import Attempt, Endpoint
from tests.analysis.experiments.fair_rag.test_run import SMALL, _line
from tests.annotation.llm_judges import source_campaign
from tests.annotation.llm_judges.judge_server import JudgeServer, Seen
from tests.annotation.llm_judges.judge_server import judging as served
from tests.factories import StudyFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_broker"), pytest.mark.extended]

DELAY, AT_ONCE = 0.4, 4


def said(seen: Seen) -> dict[str, Any] | str:
    """Judge where questions are asked; say something otherwise."""
    return seen.every(0) if seen.options else "Tides follow the moon, and the sun adds to them. " * 6


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with served(said, latency=DELAY) as running_server:
        yield running_server


@pytest.fixture
def endpoint(server: JudgeServer) -> Endpoint:
    return source_campaign.endpoint(server, concurrency=AT_ONCE)


def took(run: Run) -> float:
    """The seconds in which a run had at least one call on its way: the rest is this machine's."""
    run = lifecycle.wait(run)
    assert run.state == RunState.DONE, run.error
    sent = Attempt.objects.filter(state=AttemptState.ANSWERED, ended_at__gte=run.created_at).order_by("ended_at")
    total, until = timedelta(), run.created_at
    for ended, latency in sent.values_list("ended_at", "latency"):
        begun = max(ended - timedelta(seconds=latency), until)
        total, until = total + max(ended - begun, timedelta()), max(until, ended)
    return total.total_seconds()


@pytest.mark.parametrize("inference", [Inference.COMBINED, Inference.INDIVIDUAL])
def test_judging(endpoint: Endpoint, inference: Inference) -> None:
    source = source_campaign.campaign()
    for _pair in range(4):
        source_campaign.pair(source)
    order = source_campaign.order(source, endpoint, inference=Inference.COMBINED)
    took(judge_run.start(study=source.study, order=order))
    for _pair in range(8):
        source_campaign.pair(source)
    order = source_campaign.order(source, endpoint, inference=inference)
    told = run_orders.forecast(study=source.study, order=order)
    assert took(judge_run.start(study=source.study, order=order)) == pytest.approx(told.seconds, rel=0.3)


def test_fair_rag(endpoint: Endpoint, tmp_path: Any) -> None:
    study = StudyFactory()
    words = ("alder", "noise", "birch", "", "cedar")
    path = tmp_path / "asked.jsonl"

    def order(first: int, last: int) -> services.Order:
        path.write_text("\n".join(json.dumps(_line(f"q{i}", words)) for i in range(first, last)))
        upload = run_files.store_upload(study=study, source=path)
        parameters = {"generator": f"endpoint:{endpoint.name}", "collection": {"source": "qa", "upload": upload.pk}}
        return services.order(get("fair"), study, parameters | SMALL | {"samples": 4}, seed=0)

    took(services.start(order(0, 2)))
    asked = order(2, 6)
    told = services.forecast(asked)
    assert took(services.start(asked)) == pytest.approx(told.seconds, rel=0.3)

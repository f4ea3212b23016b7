"""How long a run would take: by the tokens that its generator lately read and wrote, not by calls."""

from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from django.utils import timezone

from analysis.experiments import runs, services
from analysis.experiments.experiment import CostEstimate, get
from analysis.experiments.fair_rag.costs import SECONDS_PER_QUERY, estimate, most_lists
from analysis.experiments.fair_rag.parameters import FairRagParameters
from analysis.rag.protocols import Collection
from crowdrag.jobs.models import Run
from crowdrag.llm import forecasts
from crowdrag.llm.enums import AttemptState
from crowdrag.llm.models import Attempt
from tests.analysis.experiments.test_frame import order, run_it
from tests.analysis.rag.fair_rag.planted import query

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker")]

NOW = timezone.now().replace(microsecond=0)


def answered(endpoint, prompt: int, completion: int, seconds: float, start: float) -> None:
    begun = NOW + timedelta(seconds=start)
    Attempt.objects.create(
        endpoint=endpoint, number=1, fence=0, state=AttemptState.ANSWERED, prompt_tokens=prompt,
        completion_tokens=completion, bound=0, cost=0, currency="EUR", started_at=begun,
        ended_at=begun + timedelta(seconds=seconds), latency=seconds,
    )  # fmt: skip


@pytest.mark.parametrize(("at_once", "concurrency"), [(1, 1), (1, 8), (4, 8)])
def test_an_endpoints_pace_is_of_tokens_and_of_how_many_answers_come_at_once(endpoint, at_once, concurrency):
    endpoint.concurrency = concurrency
    endpoint.save()
    rng = np.random.default_rng(1)
    at = 0.0
    for _round in range(6):
        sizes = [(int(rng.integers(50, 3000)), int(rng.integers(1, 200))) for _each in range(at_once)]
        took = [0.01 * prompt + 0.2 * completion for prompt, completion in sizes]
        for (prompt, completion), seconds in zip(sizes, took, strict=True):
            answered(endpoint, prompt, completion, seconds, at)
        at += max(took) + 100  # between the rounds nothing was asked
    pace = forecasts.measure_speed(endpoint, "experiment.fair")
    assert (pace.prompt, pace.completion) == (pytest.approx(0.01), pytest.approx(0.2))
    assert pace.overlap == pytest.approx(1.0) if at_once == 1 else 1.5 < pace.overlap <= 4
    # Long prompts take long: the same number of calls with ten times the words is no two seconds.
    short, long = (runs.seconds(pace, CostEstimate(10, tokens, 100)) for tokens in (1_000, 100_000))
    assert (short * pace.overlap, long * pace.overlap) == (pytest.approx(30), pytest.approx(1020))


def test_where_prompts_are_all_alike_the_sum_is_still_what_it_took(endpoint):
    for place in range(5):
        answered(endpoint, 400, 10, 3.0 + place, place * 20.0)
    pace = forecasts.measure_speed(endpoint, "experiment.fair")
    assert runs.seconds(pace, CostEstimate(5, 5 * 400, 5 * 10)) == pytest.approx(3 + 4 + 5 + 6 + 7)


def test_who_never_answered_has_no_pace(endpoint):
    assert forecasts.measure_speed(endpoint, "experiment.fair") is None
    assert runs.of_runs("experiment.fair", "model:SmolLM2-135M-Instruct") is None


def test_a_models_pace_is_that_of_its_last_run_and_other_work_is_counted_once(experiment, study, endpoint, monkeypatch):
    run = run_it(experiment, study)
    Attempt.objects.all().update(latency=None)  # as of a model in the process: nobody times its answers
    usage = {"calls": 10, "stored": 10, "prompt_tokens": 900, "completion_tokens": 100}
    Run.objects.filter(pk=run.pk).update(
        started_at=NOW, finished_at=NOW + timedelta(seconds=50), summary=run.summary | {"usage": usage}
    )
    asked = order(experiment, study)
    pace = runs.of_runs(asked.experiment.kind, asked.parameters["generator"])
    assert pace.prompt == pace.completion == pytest.approx(50 / 500)  # half of the tokens were kept from before
    Run.objects.update(summary={"usage": usage})  # a run that does not say what was expected
    found = SimpleNamespace(calls=20, prompt_tokens=1_800, completion_tokens=200, seconds=40.0, likely=None)
    assert services._seconds(asked, found, endpoint) == pytest.approx(200)  # not 240: the run's time held it
    found.seconds = 900.0
    assert services._seconds(asked, found, endpoint) == 900.0


def test_time_is_reckoned_by_what_the_last_run_asked_for_of_its_estimate(experiment, study, endpoint):
    run = run_it(experiment, study)
    usage = {"calls": 10, "stored": 0, "prompt_tokens": 900, "completion_tokens": 100}
    summary = run.summary | {"usage": usage, runs.EXPECTED: {"prompt_tokens": 1_800, "completion_tokens": 1_000}}
    Run.objects.filter(pk=run.pk).update(summary=summary)
    share = runs.share_of_latest(experiment.kind, run.parameters["generator"])
    assert (share.prompt, share.completion) == (0.5, 0.1)
    speed = forecasts.Speed(prompt=0.01, completion=0.1, written=0.9)
    assert runs.seconds(speed, CostEstimate(10, 1_000, 500), share) == pytest.approx(5 + 5)
    assert runs.share_of_latest(experiment.kind, "endpoint:other") is None


def test_a_run_keeps_what_it_was_expected_to_ask_for(experiment, study, endpoint):
    asked = order(experiment, study)
    run = services.start(asked)
    estimate = experiment.estimate(asked.collection, experiment.own_parameters(asked.parameters))
    assert run.summary[runs.EXPECTED] == runs.expected(estimate)


def test_lists_that_are_equal_are_not_reckoned_twice():
    words = ("alder", "noise", "birch", "", "cedar", "dogwood")
    collection = Collection("planted", (query("q0", words), query("q1", words)))
    few = estimate(collection, FairRagParameters(k=2, alphas=(8.0,), samples=50, entailment=""))
    assert few.likely.calls < few.calls
    assert few.likely.prompt_tokens < few.prompt_tokens
    speed = forecasts.Speed(prompt=0.01, completion=0.1)
    assert runs.seconds(speed, few) == pytest.approx(runs.seconds(speed, few.likely))


def test_pairs_of_an_entailment_model_take_time_and_are_named(settings):
    settings.ENTAILMENT_MODELS = ["large"]
    collection = Collection("planted", (query("q0", ("alder", "noise", "birch", "", "cedar")), query("q1", ("alder",))))
    plain, by_model, asking = (
        estimate(collection, FairRagParameters(k=3, entailment=name)) for name in ("", "nli:large", "generator")
    )
    pairs = 3 * most_lists(collection.queries[0], FairRagParameters(k=3))
    assert asking.calls - plain.calls == pairs
    assert (by_model.calls, by_model.prompt_tokens) == (plain.calls, plain.prompt_tokens)
    assert by_model.seconds > plain.seconds + pairs * 0.1 > pairs * SECONDS_PER_QUERY
    assert f"{pairs:,}" in by_model.note
    assert f"{pairs:,}" not in plain.note
    assert get("fair").estimate is estimate

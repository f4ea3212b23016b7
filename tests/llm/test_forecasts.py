"""How fast an endpoint is: seconds a token, calls at once, and how much of what is allowed is read and written."""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowdrag.llm import forecasts, gateway
from crowdrag.llm.enums import AttemptState
from crowdrag.llm.models import Attempt, Call, Endpoint

pytestmark = pytest.mark.django_db

NOW = timezone.now().replace(microsecond=0)


def answered(
    endpoint, *, start: float, seconds: float, waited=0.0, prompt=400, completion=100, purpose="judge", asks=1
):
    """A question of 2,000 bytes with an answer of at most 500 tokens, and what was sent for it."""
    request = {
        "messages": [{"role": "user", "content": "x" * 2_000}],
        "parameters": {"max_tokens": 500},
        "schema": None,
    }
    call = Call.objects.create(
        endpoint=endpoint, digest=f"{Call.objects.count():064x}", model="m", purpose=purpose, request=request,
        created_at=NOW,
    )  # fmt: skip
    for n in range(asks):
        begun = NOW + timedelta(seconds=start + n * seconds)
        Attempt.objects.create(
            call=call, endpoint=endpoint, number=n + 1, fence=0, state=AttemptState.ANSWERED, prompt_tokens=prompt,
            completion_tokens=completion, bound=0, cost=0, currency="EUR",
            started_at=begun - timedelta(seconds=waited), ended_at=begun + timedelta(seconds=seconds), latency=seconds,
        )  # fmt: skip


def asked(n: int) -> list[gateway.Request]:
    messages = [[{"role": "user", "content": f"{i:04}" + "x" * 1_996}] for i in range(n)]
    return [gateway.Request(messages=each, parameters={"max_tokens": 500}) for each in messages]


def test_a_local_model_that_answers_two_at_once_takes_as_long_for_the_next(endpoint, study):
    """Each took 20 s beside another one: 40 calls take 400 s, whatever number the endpoint would take at once."""
    Endpoint.objects.filter(pk=endpoint.pk).update(is_local=True, concurrency=4)
    endpoint.refresh_from_db()
    for n in range(10):
        answered(endpoint, start=20.0 * (n // 2), seconds=20.0, waited=5.0 * (n % 2))
    found = forecasts.forecast(study=study, endpoint=endpoint, requests=asked(40), purpose="judge")
    assert found.seconds == pytest.approx(400, rel=0.02)
    # Ten times as many tokens are allowed as are written: the bound says so, the time does not.
    assert found.estimate.completion_tokens == 40 * 500


def test_a_far_server_answers_as_many_at_once_as_it_takes(endpoint, study):
    Endpoint.objects.filter(pk=endpoint.pk).update(is_local=False, concurrency=8, base_url="https://far.example/v1")
    endpoint.refresh_from_db()
    answered(endpoint, start=0.0, seconds=6.0)
    forecast = {
        n: forecasts.forecast(study=study, endpoint=endpoint, requests=asked(n), purpose="judge").seconds
        for n in (1, 4, 9, 80)
    }
    # Nine calls come in two rounds of eight.
    assert forecast == {n: pytest.approx(took, rel=0.02) for n, took in {1: 6, 4: 6, 9: 12, 80: 60}.items()}


def test_answers_that_must_be_asked_for_again_take_their_time(endpoint, study):
    for n in range(4):
        answered(endpoint, start=30.0 * n, seconds=10.0, asks=3)
    found = forecasts.forecast(study=study, endpoint=endpoint, requests=asked(2), purpose="judge")
    assert found.seconds == pytest.approx(60, rel=0.02)


def test_another_purpose_tells_the_speed_where_this_one_has_no_answer(endpoint, study):
    assert forecasts.measure_speed(endpoint, "judge") is None
    answered(endpoint, start=0.0, seconds=8.0, purpose="write")
    found = forecasts.measure_speed(endpoint, "judge")
    assert found is not None
    assert (found.read, found.written) == (pytest.approx(400 / 2_080), pytest.approx(0.2))
    assert found.seconds(calls=1, prompt_tokens=400, completion_tokens=100) == pytest.approx(8.0)


def test_a_server_that_takes_its_time_for_each_call_does_so_for_short_questions_too(endpoint, study):
    """Two seconds a call beside those of its tokens: a hundred calls of a few tokens take 200 seconds and not one."""
    for n, (prompt, completion) in enumerate([(400, 100), (1_000, 300), (2_000, 50), (300, 10)]):
        took = 2.0 + 0.001 * prompt + 0.02 * completion
        answered(endpoint, start=100.0 * n, seconds=took, prompt=prompt, completion=completion)
    found = forecasts.measure_speed(endpoint, "judge")
    assert (found.call, found.prompt, found.completion) == pytest.approx((2.0, 0.001, 0.02))
    assert found.seconds(calls=100, prompt_tokens=500, completion_tokens=100) == pytest.approx(202.5)

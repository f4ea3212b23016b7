"""Models as writers, against a server that does what it is told: what becomes of every kind of answer."""

import os
import subprocess
import sys
import time
from decimal import Decimal
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.utils import timezone

from analysis.text import statements
from crowdrag.jobs import leases, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.kinds import InputRejectedError, RunCancelledError, Work
from crowdrag.jobs.models import Run
from crowdrag.llm import attempts, endpoints, gateway, ledger
from crowdrag.llm.enums import AttemptState
from crowdrag.llm.models import Attempt, Call
from tests.factories import ResponseFactory, RetrievedPassageFactory, StyleFactory, TopicFactory
from tests.llm.conftest import endpoint, local_model_url, paid, policy, server, slept, study
from writing.enums import AnswerOutcome, Origin
from writing.llm_writers import outcomes, prompts, writer_run
from writing.llm_writers import queries as llm_writers_queries
from writing.llm_writers.targets import TopicSelection
from writing.llm_writers.writer import AnswerForm
from writing.models import ModelAnswer, Response, WritingPrompt

__all__ = ["endpoint", "local_model_url", "paid", "policy", "server", "slept", "study"]

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]
PROMPT = "{query} is what is asked, in about {words} words. {citing}\n\n{style}\n\n{passages}"


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch, policy):
    monkeypatch.setattr(gateway, "complete_many", partial(gateway.complete_many, policy=policy))


@pytest.fixture
def style(study):
    return StyleFactory(study=study, name="essay", target_words=50)


def topics(study, *queries):
    """Topics whose first word tells the server what to do."""
    made = [TopicFactory(study=study, external_id=f"t{i}", query=query) for i, query in enumerate(queries)]
    for topic in made:
        for rank in range(2):
            RetrievedPassageFactory(topic=topic, rank=rank)
    return made


def order(study, endpoint, style, **asked):
    prompt = prompts.ensure(study=study, text=asked.pop("prompt", PROMPT), now=timezone.now())
    return writer_run.Order(endpoint=endpoint.pk, prompt=prompt.pk, styles=(style.pk,), **asked)


def campaign(study, endpoint, style, **asked):
    return lifecycle.wait(writer_run.start(study=study, order=order(study, endpoint, style, **asked)))


def came(run):
    return {answer.topic.query.split()[0]: answer.outcome for answer in run.model_answers.select_related("topic")}


BROKEN = "ok:23a6a508e08782d5bbe9[1,2,3]{3}"
EXPECTED = {
    "words:40": AnswerOutcome.WRITTEN,
    "refuse": AnswerOutcome.REFUSED,
    "filtered": AnswerOutcome.REFUSED,
    "sorry": AnswerOutcome.REFUSED,
    "empty": AnswerOutcome.EMPTY,
    "nothing": AnswerOutcome.EMPTY,
    "ok:[0]": AnswerOutcome.EMPTY,
    "words:101": AnswerOutcome.OVERLONG,
    "words:100": AnswerOutcome.WRITTEN,
    "cut_short": AnswerOutcome.OVERLONG,
    "bad_request": AnswerOutcome.FAILED,
    "fail,busy,words:45": AnswerOutcome.WRITTEN,
    "nul": AnswerOutcome.BROKEN,
    BROKEN: AnswerOutcome.BROKEN,
}


@pytest.mark.parametrize("accept_overlong", [False, True])
def test_every_answer_is_kept_and_marked_and_only_responses_become_responses(
    study, endpoint, style, server, accept_overlong
):
    topics(study, *EXPECTED)
    run = campaign(study, endpoint, style, accept_overlong=accept_overlong)
    assert run.state == RunState.DONE, run.error
    assert came(run) == EXPECTED
    accepted = {AnswerOutcome.WRITTEN} | ({AnswerOutcome.OVERLONG} if accept_overlong else set())
    texts = {}
    for answer in run.model_answers.select_related("response", "topic"):
        texts[answer.topic.query] = answer.text
        assert (answer.response is not None) == (answer.outcome in accepted)
        if answer.response:
            assert (answer.response.text, answer.response.origin) == (answer.text, Origin.MODEL)
    assert Response.objects.count() == sum(outcome in accepted for outcome in EXPECTED.values())
    assert texts["refuse"] == "I would rather not."
    assert texts[BROKEN].startswith("23a6")
    assert "context" in texts["bad_request"]
    cited = Response.objects.get(topic__query="words:40")
    assert [s.citations.count() for s in cited.statements.all()] == [1]
    assert (run.summary["answers"], run.summary["refused"]) == (len(EXPECTED), 3)
    shown = llm_writers_queries.describe_parameters(run)
    assert [shown["Endpoint"], shown["Styles"]] == [endpoint.name, [style.label]], "by names, not by keys of rows"
    assert WritingPrompt.objects.get(pk=run.parameters["prompt"]).name in shown["Prompt"]


def test_statements_as_json_are_put_together_and_what_is_no_json_is_a_failure_after_five_times(
    study, endpoint, style, server
):
    topics(study, "document_of", "prose")
    run = campaign(study, endpoint, style, form=AnswerForm.STATEMENTS)
    assert came(run) == {"document_of": AnswerOutcome.WRITTEN, "prose": AnswerOutcome.FAILED}
    assert Response.objects.get().text == (
        "A claim that is long enough to be one [0]. A claim that is long enough to be one [0]."
    )
    assert len(server.asked("prose")) == 5
    assert server.seen[0][1]["response_format"]["type"] == "json_schema"


def test_the_same_campaign_again_asks_nothing_and_doubles_nothing(study, endpoint, style, server):
    topics(study, "words:40 a", "words:41 b")
    first = campaign(study, endpoint, style, which=TopicSelection.ALL)
    again = campaign(study, endpoint, style, which=TopicSelection.ALL)
    assert again.state == RunState.DONE
    assert len(server.seen) == 2
    assert Response.objects.count() == 2
    assert ModelAnswer.objects.count() == 4
    assert {a.response_id for a in first.model_answers.all()} == {a.response_id for a in again.model_answers.all()}
    assert first.inputs_digest == again.inputs_digest


@pytest.mark.extended
def test_another_prompt_or_parameter_is_another_participant(study, endpoint, style):
    topics(study, "words:40")
    campaign(study, endpoint, style, which=TopicSelection.ALL)
    campaign(study, endpoint, style, which=TopicSelection.ALL, prompt=PROMPT + " Please.")
    campaign(study, endpoint, style, which=TopicSelection.ALL, parameters={"temperature": 0.5})
    participants = study.participants.filter(kind="MODEL").order_by("id")
    assert [p.specification["prompt_version"] for p in participants] == ["writing v1", "writing v2", "writing v1"]
    assert participants[2].specification["parameters"] == {"temperature": 0.5}
    assert Response.objects.count() == 3


def test_which_topics_are_asked_for(study, endpoint, style):
    human, model, _none = topics(study, "words:40 a", "words:40 b", "words:40 c")
    TopicFactory(study=study, query="without passages")
    ResponseFactory(topic=human, style=style, origin=Origin.HUMAN)
    ResponseFactory(topic=model, style=style, origin=Origin.MODEL)

    def asked(which, *names):
        pairs = order(study, endpoint, style, which=which, topics=names).pairs(study)
        return [topic.external_id for topic, _style in pairs]

    assert asked(TopicSelection.ALL) == ["t0", "t1", "t2"]
    assert asked(TopicSelection.NO_MODEL) == ["t0", "t2"]
    assert asked(TopicSelection.NOBODY) == ["t1", "t2"]
    assert asked(TopicSelection.CHOSEN, "t1") == ["t1"]
    with pytest.raises(InputRejectedError):
        writer_run.start(study=study, order=order(study, endpoint, style, which=TopicSelection.CHOSEN, topics=("x",)))


def test_the_budget_stops_a_campaign_which_goes_on_when_it_is_raised(study, paid, style, server):
    topics(study, *[f"words:{40 + i}" for i in range(8)])
    ordered = order(study, paid, style)
    forecast = writer_run.forecast(study=study, order=ordered)
    assert (forecast.wanted, forecast.estimate.stored, forecast.is_over_budget, forecast.problem) == (8, 0, False, "")
    paid.concurrency, paid.input_price, paid.output_price = 1, Decimal(1_000_000), Decimal(2_000_000)
    paid.save()
    each = writer_run.forecast(study=study, order=ordered).estimate.cost / 8
    study.llm_budget = int(each) + 50  # an answer costs 20 in the end
    study.save()
    assert writer_run.forecast(study=study, order=ordered).is_over_budget
    run = lifecycle.wait(writer_run.start(study=study, order=ordered))
    assert run.state == RunState.FAILED
    before = len(server.seen)
    assert 0 < before < 8
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    assert sum(booked) <= study.llm_budget

    study.llm_budget = 10_000_000
    study.save()
    run = lifecycle.wait(lifecycle.resume(run=run))
    assert run.state == RunState.DONE, run.error
    assert len(server.seen) == 8
    assert Response.objects.count() == ModelAnswer.objects.count() == 8


def test_a_server_that_fails_for_now_fails_the_unit_and_what_was_answered_is_not_asked_again(
    study, endpoint, style, server
):
    topics(study, "words:40", "fail")
    run = lifecycle.start(study=study, kind=writer_run.KIND, parameters=order(study, endpoint, style).kept)
    unit = run.units.get()
    with pytest.raises(writer_run.UnansweredError):
        writer_run.work(Work(run, unit))
    assert came(run) == {"words:40": AnswerOutcome.WRITTEN}
    before = len(server.asked("words:40"))
    with pytest.raises(writer_run.UnansweredError):
        writer_run.work(Work(run, unit))
    assert len(server.asked("words:40")) == before == 1


@pytest.mark.extended
def test_what_is_written_when_a_run_is_cancelled_stays_and_the_rest_is_given_up_at_once(
    study, endpoint, style, server, monkeypatch
):
    topics(study, "words:40", "slow:4")
    run = lifecycle.start(study=study, kind=writer_run.KIND, parameters=order(study, endpoint, style).kept)
    unit = leases.claim(worker="w", run=run)
    reports = []

    def check():
        if not Run.objects.get(pk=run.pk).is_active:
            raise RunCancelledError

    def report(done, total, _message):
        reports.append((done, total))
        if done:
            lifecycle.cancel(run=run)

    began = time.monotonic()
    with pytest.raises(RunCancelledError):
        writer_run.work(Work(run, unit, report, partial(leases.apply_part, unit), check))
    assert time.monotonic() - began < 3.5  # the slow one takes longer
    assert sorted(set(reports)) == [(0, 2), (1, 2)]
    assert came(run) == {"words:40": AnswerOutcome.WRITTEN}
    assert Response.objects.filter(origin=Origin.MODEL).count() == 1
    lifecycle.resume(run=run)
    assert lifecycle.wait(Run.objects.get(pk=run.pk)).state == RunState.DONE
    assert len(server.asked("words:40")) == 1


@pytest.mark.extended
def test_the_time_is_forecast_from_the_latest_answers(study, endpoint, style):
    topics(study, "words:40", "words:41")
    assert writer_run.forecast(study=study, order=order(study, endpoint, style)).seconds is None
    campaign(study, endpoint, style, which=TopicSelection.CHOSEN, topics=("t0",))
    Attempt.objects.update(latency=6.0)
    endpoint.concurrency = 3
    endpoint.save()
    forecast = writer_run.forecast(study=study, order=order(study, endpoint, style))
    assert (forecast.wanted, forecast.seconds) == (1, pytest.approx(6.0, rel=0.1))


def test_a_response_knows_the_call_that_it_came_from(study, endpoint, style):
    topics(study, "words:40")
    run = campaign(study, endpoint, style, words=70, parameters={"seed": 3})
    origins = llm_writers_queries.provenance(Response.objects.get())
    assert (origins.call, origins.answer.run) == (Call.objects.get(), run)
    assert origins.specification["prompt_version"] == "writing v1"
    endpoint.name = "renamed"
    endpoint.save()
    assert llm_writers_queries.provenance(Response.objects.get()).call is None


@pytest.mark.soak  # the demo's test has it write statements
def test_the_local_model_writes_a_text(settings, study, style, local_model_url):
    local = endpoints.ensure_local(url=local_model_url)
    topics(study, "Why do leaves fall in autumn?")
    run = campaign(study, local, style, parameters={"seed": 1, "frequency_penalty": 0.6, "temperature": 0.4})
    assert run.state == RunState.DONE, run.error
    answer = run.model_answers.get()
    assert answer.text
    assert answer.outcome in {AnswerOutcome.WRITTEN, AnswerOutcome.OVERLONG}
    assert Attempt.objects.get().cost == 0


KILLED = """
import django; django.setup()
from functools import partial
from analysis.text import statements
from crowdrag.llm import gateway
from crowdrag.llm.retry_policy import RetryPolicy
from crowdrag.jobs import worker
from crowdrag.jobs.models import Run
gateway.complete_many = partial(gateway.complete_many, policy=RetryPolicy(lease=1.0, poll=0.05))
run = Run.objects.get(pk={pk})
while worker.work_next(run): pass
"""


@pytest.mark.parametrize(
    "kills", [pytest.param(2, marks=pytest.mark.extended), pytest.param(25, marks=pytest.mark.soak)]
)
def test_killed_and_resumed_a_campaign_asks_only_for_what_was_in_flight(study, endpoint, style, server, kills):
    count = 8 * kills
    topics(study, *[f"slow:0.15 {i}" for i in range(count)])
    run = writer_run.start(study=study, order=order(study, endpoint, style))
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    env = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "crowdrag.settings"}
    for _kill in range(kills):
        before = len(server.seen)
        command = [sys.executable, "-c", KILLED.format(pk=run.pk)]
        process = subprocess.Popen(command, cwd=ROOT, env=env)
        deadline = time.monotonic() + 60
        while len(server.seen) < min(before + 6, count) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert process.poll() in {None, 0}
        process.kill()
        process.wait()
        lifecycle.cancel(run=run)
        run = lifecycle.resume(run=run)
    run = lifecycle.wait(run)
    assert run.state == RunState.DONE, run.error
    lost = Attempt.objects.filter(state=AttemptState.UNKNOWN).count()
    # In flight, or stood ahead while answers were stored.
    assert lost <= kills * (endpoint.concurrency + attempts.prefetch_limit(endpoint.concurrency))
    assert len(server.seen) <= count + lost
    assert Response.objects.count() == ModelAnswer.objects.count() == count
    assert Call.objects.count() == count


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I’m unable to write this.", True),
        ("As an AI language model, I have no opinion.", True),
        ("“I cannot answer this.”", True),
        ("I cannot overstate how much tides matter [0].", False),
        ("Sorry states of harbours are common.", False),
        ("Unfortunately, I know nothing of it.", True),
        ("Unfortunately, few harbours remain.", False),
        ("As an aim, storage matters.", False),
        ("I will argue that tides matter.", False),
        ("I'm sorry to say so. " + "word " * 90, False),
    ],
)
def test_refusals_in_words_are_told_from_responses(text, refused):
    assert outcomes.is_refusal(text, statements.parse(text, passages=2)) is refused

"""The real local model: small, but it answers, keeps to a schema and gives log probabilities."""

import math
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from crowdrag.llm.domain import endpoints, gateway
from crowdrag.llm.models import Call, Endpoint

pytestmark = [pytest.mark.django_db, pytest.mark.extended]

SCHEMA = {
    "type": "object",
    "properties": {"better": {"enum": ["a", "n", "b"]}, "sure": {"type": "boolean"}},
    "required": ["better", "sure"],
    "additionalProperties": False,
}


@pytest.fixture
def local(local_model_url, settings):
    settings.LLM_URL = local_model_url
    call_command("local_endpoint", stdout=StringIO())
    return Endpoint.objects.get(name="local")


def ask(endpoint, study, text, schema=None, **parameters):
    request = gateway.Request([{"role": "user", "content": text}], parameters={"seed": 1, **parameters}, schema=schema)
    [answer] = gateway.complete_many(endpoint=endpoint, requests=[request], study=study, purpose="test")
    return answer


def test_it_answers(local, study):
    answer = ask(local, study, "Say hello.", max_tokens=12, temperature=0)
    assert answer.ok
    assert answer.text.strip()
    assert 0 < answer.completion_tokens <= 12
    assert answer.prompt_tokens > 2
    assert not answer.usage_estimated
    assert answer.cost == 0
    again = ask(local, study, "Say hello.", max_tokens=12, temperature=0)
    assert (again.text, again.cached) == (answer.text, True)


def test_it_keeps_to_a_schema(local, study):
    answer = ask(local, study, "Which is better, a or b? Reply in JSON.", schema=SCHEMA, max_tokens=40, temperature=0)
    assert answer.data["better"] in {"a", "n", "b"}
    assert isinstance(answer.data["sure"], bool)


def test_it_gives_log_probabilities(local, study):
    answer = ask(local, study, "Say hello.", max_tokens=3, logprobs=True, top_logprobs=2)
    assert len(answer.logprobs) == answer.completion_tokens
    assert all(token["logprob"] <= 0 and math.isfinite(token["logprob"]) for token in answer.logprobs)
    assert len(answer.logprobs[0]["top_logprobs"]) == 2
    assert Call.objects.get(pk=answer.call).logprobs == answer.logprobs


def test_an_answer_that_grows_too_long_is_marked(local, study):
    answer = ask(local, study, "Tell a long story about a dog.", max_tokens=4)
    assert answer.is_cut


def test_a_question_that_is_too_long_is_an_error_that_says_so(local, study):
    answer = ask(local, study, "word " * 20_000, max_tokens=4)
    assert "context" in answer.error


def test_it_can_be_tried_out(local):
    trial = endpoints.try_out(endpoint=local)
    assert trial.error == ""
    assert trial.text
    assert trial.seconds > 0


def test_the_command_may_be_run_again_and_keeps_what_the_operator_set(local, settings):
    Endpoint.objects.update(concurrency=7, is_allowed=False)
    settings.LLM_URL = "http://127.0.0.1:1/v1/"
    call_command("local_endpoint", stdout=StringIO())
    again = Endpoint.objects.get()
    assert (again.pk, again.base_url, again.concurrency, again.is_allowed) == (
        local.pk,
        "http://127.0.0.1:1/v1",
        7,
        False,
    )
    assert again.supports_json_schema
    assert again.supports_logprobs
    assert again.is_local


def test_the_command_says_what_is_missing(settings):
    settings.LLM_URL = ""
    with pytest.raises(CommandError, match="CROWDRAG_LLM_URL"):
        call_command("local_endpoint")

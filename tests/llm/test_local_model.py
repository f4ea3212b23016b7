"""The real local model: small, but it answers, keeps to a schema and gives log probabilities."""

import math
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from crowdrag.llm import endpoints, gateway
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


def test_it_answers_keeps_to_schemas_and_limits_and_gives_log_probabilities(local, study):
    def ask(text, schema=None, **parameters):
        messages = [{"role": "user", "content": text}]
        request = gateway.Request(messages, parameters={"seed": 1, **parameters}, schema=schema)
        [answer] = gateway.complete_many(endpoint=local, requests=[request], study=study, purpose="test")
        return answer

    hello = ask("Say hello.", max_tokens=12, temperature=0)
    assert (hello.fault, Call.objects.get(pk=hello.call).usage_estimated, hello.cost) == ("", False, 0)
    assert hello.text.strip()
    assert 0 < hello.completion_tokens <= 12
    assert hello.prompt_tokens > 2
    again = ask("Say hello.", max_tokens=12, temperature=0)
    assert (again.text, again.cached) == (hello.text, True)

    chosen = ask("Which is better, a or b? Reply in JSON.", schema=SCHEMA, max_tokens=40, temperature=0).data
    assert chosen["better"] in {"a", "n", "b"}
    assert isinstance(chosen["sure"], bool)

    scored = ask("Say hello.", max_tokens=3, logprobs=True, top_logprobs=2)
    assert len(scored.logprobs) == scored.completion_tokens
    assert all(token["logprob"] <= 0 and math.isfinite(token["logprob"]) for token in scored.logprobs)
    assert len(scored.logprobs[0]["top_logprobs"]) == 2
    assert Call.objects.get(pk=scored.call).logprobs == scored.logprobs

    assert ask("Tell a long story about a dog.", max_tokens=4).is_cut
    assert ask("word " * 20_000, max_tokens=4).error
    trial = endpoints.try_out(endpoint=local)
    assert (trial.error, bool(trial.text), trial.seconds > 0) == ("", True, True)


def test_the_command_may_be_run_again_and_keeps_what_the_operator_set(local, settings):
    Endpoint.objects.update(concurrency=7, is_allowed=False)
    settings.LLM_URL = "http://127.0.0.1:1/v1/"
    call_command("local_endpoint", stdout=StringIO())
    fields = ("pk", "base_url", "concurrency", "is_allowed", "supports_json_schema", "supports_logprobs", "is_local")
    expected = (local.pk, "http://127.0.0.1:1/v1", 7, False, True, True, True)
    assert Endpoint.objects.values_list(*fields).get() == expected


def test_the_command_names_the_setting_that_is_missing(settings):
    settings.LLM_URL = ""
    with pytest.raises(CommandError, match="CROWDRAG_LLM_URL"):
        call_command("local_endpoint")

"""Generators that are asked through the gateway: what is sent, what comes back, and what it cost."""

import numpy as np
import pytest

from analysis.experiments import generators
from analysis.experiments.generators import BadParameterError
from analysis.rag.protocols import Message, NoLikelihoodsError, Output, Prompt, Usage
from crowdrag.llm import endpoints, gateway
from crowdrag.llm.forecasts import UnansweredError
from crowdrag.llm.models import Call
from tests.llm.conftest import local_model_url, study  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db


def prompt(text, **options):
    return Prompt((Message("user", text),), **options)


@pytest.fixture
def chat(endpoint, study):  # noqa: F811
    def _chat(options=""):
        return generators.generator({"generator": f"endpoint:{endpoint.name}{options}"}, study=study, purpose="test")

    return _chat


def test_a_prompt_becomes_a_request_and_its_answer_an_output(chat, server):
    messages = (Message("system", "ok:Paris"), Message("user", "Which city?"))
    [output] = chat().generate([Prompt(messages, max_tokens=7)])
    assert output == Output("Paris", prompt_tokens=10, completion_tokens=5)
    [(_headers, body)] = server.seen
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "ok:Paris"}, {"role": "user", "content": "Which city?"}],
        "temperature": 0,
        "max_tokens": 7,
    }
    assert Call.objects.get().purpose == "test"


def test_equal_prompts_are_asked_once_and_paid_once(chat, server, paid):
    first, again, other = chat().generate([prompt("ok:a"), prompt("ok:a"), prompt("ok:a", sample=1)])
    [later] = chat().generate([prompt("ok:a")])
    assert [one.is_stored for one in (first, again, other, later)] == [False, True, False, True]
    assert [one.cost for one in (first, again, other, later)] == [0.02, 0.0, 0.02, 0.0]  # 10 in, 5 out
    assert len(server.seen) == 2
    usage = Usage()
    usage.add([first, again, other, later])
    assert (usage.calls, usage.stored, usage.cost) == (2, 2, 0.04)


def test_an_answer_is_one_of_the_choices(chat, server, endpoint):
    [output] = chat().generate([prompt("document:b", choices=("a", "b"), max_tokens=1)])
    assert output.text == "b"
    [(_headers, body)] = server.seen
    assert body["response_format"]["json_schema"]["schema"]["properties"] == {"choice": {"enum": ["a", "b"]}}
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["max_tokens"] >= len('{"choice": "a"}')


def test_what_is_none_of_them_is_asked_for_again_and_then_an_error(chat, server):
    mended, never = chat().generate(
        [prompt("document:z,document:a", choices=("a", "b")), prompt("prose", choices=("a", "b"))]
    )
    assert mended.text == "a"
    assert (never.text, bool(never.error)) == ("", True)
    assert len(server.asked("prose")) == 5


def test_nothing_is_an_answer_and_a_refusal_is_not(chat):
    empty, nothing, refused, filtered, rejected = chat().generate(
        [prompt(text) for text in ("empty", "nothing", "refuse", "filtered", "bad_request")]
    )
    assert (empty.text, empty.error, nothing.text, nothing.error) == ("", "", "", "")
    assert (refused.text, "I would rather not" in refused.error) == ("", True)
    assert (filtered.text, "content_filter" in filtered.error) == ("", True)
    assert (rejected.text, "the context is too long" in rejected.error) == ("", True)
    [chosen] = chat().generate([prompt("refuse", choices=("a", "b"))])
    assert (chosen.text, bool(chosen.error)) == ("", True)


def test_a_server_that_fails_for_now_fails_the_unit_and_what_it_answered_stays(chat):
    with pytest.raises(UnansweredError):
        chat().generate([prompt("ok:a"), prompt("quota")])
    [output] = chat().generate([prompt("ok:a")])
    assert output.is_stored


def test_options_are_sent_along_and_an_empty_one_takes_its_like_away(chat, server):
    generator = chat("?seed=3&top_p=0.9&temperature=")
    generator.generate([prompt("ok:a", temperature=1.0, sample=2)])
    [(_headers, body)] = server.seen
    assert (body["seed"], body["top_p"], "temperature" in body) == (5, 0.9, False)
    assert generator.name == "local:odd m seed=3 temperature= top_p=0.9"


def test_likelihoods_are_those_of_the_continuations_tokens(chat, server):
    prompts = [prompt("scored the cat"), prompt("scored a dog"), prompt("scored the cat")]
    found = chat().likelihoods(prompts, ["sat on it", "barks ", " "])
    np.testing.assert_array_equal(found, [-(3 + 2 + 2) / 3, -5.0, np.nan])
    assert len(server.seen) == 2  # the shortest is not asked twice
    [*_others, (_headers, body)] = server.seen
    assert body["messages"][-1] == {"role": "assistant", "content": "sat on it"}
    assert (body["prompt_logprobs"], body["continue_final_message"], body["add_generation_prompt"]) == (0, True, False)
    np.testing.assert_array_equal(chat().likelihoods(prompts, ["sat on it", "barks ", " "]), found)
    tokens = chat().score(prompts, ["sat on it", "barks ", " "]).tokens
    assert [each.tolist() for each in tokens] == [[-3, -2, -2], [-5], []]
    assert len(server.seen) == 2


@pytest.mark.parametrize("behaviour", ["ok", "bad_request"])
def test_a_server_that_gives_none_is_asked_once_and_says_so(chat, server, behaviour):
    with pytest.raises(NoLikelihoodsError):
        chat().likelihoods([prompt(f"{behaviour} a"), prompt(f"{behaviour} bb")], ["b", "c"])
    assert len(server.seen) == 1


def test_an_endpoint_without_log_probabilities_is_not_asked(chat, server, endpoint):
    endpoint.supports_logprobs = False
    endpoint.save()
    with pytest.raises(NoLikelihoodsError):
        chat().likelihoods([prompt("scored")], ["b"])
    assert not server.seen


def test_what_is_rejected_or_not_spelt_has_no_likelihood(chat):
    found = chat().likelihoods([prompt("scored"), prompt("bad_request, at length")], ["b", "c"])
    np.testing.assert_array_equal(found, [-1.0, np.nan])
    assert generators._spelling([["a", -1.0], ["�", -2.0]], "é").size == 0


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("", "endpoint:NAME"),
        ("gpt", "endpoint:NAME"),
        ("endpoint:", "endpoint:NAME"),
        ("endpoint:odd?top_p", "top_p"),
        ("endpoint:odd?messages=3", "messages"),
        ("endpoint:other", "odd"),
    ],
)
def test_a_name_of_nothing_is_refused(endpoint, named, problem):
    with pytest.raises(BadParameterError, match=problem):
        generators.generator({"generator": named}, study=None, purpose="test")
    endpoint.is_allowed = False
    endpoint.save()
    with pytest.raises(BadParameterError):
        generators.generator({"generator": "endpoint:odd"}, study=None, purpose="test")


def test_the_gateways_estimate_takes_the_same_requests(chat, endpoint):
    generator = chat()
    prompts = [prompt("ok:a"), prompt("ok:b", choices=("a", "b"))]
    generator.generate(prompts[:1])
    estimate = gateway.estimate(endpoint=endpoint, requests=[generator.request(one) for one in prompts])
    assert (estimate.requests, estimate.stored) == (2, 1)


@pytest.mark.extended
def test_the_bundled_model_answers_and_chooses(local_model_url, study):  # noqa: F811
    endpoints.ensure_local(url=local_model_url)
    generator = generators.generator({"generator": "endpoint:local"}, study=study, purpose="test")
    said, chosen = generator.generate(
        [prompt("Say hello.", max_tokens=8), prompt("Is Paris in France?", choices=("yes", "no"))]
    )
    assert said.text.strip()
    assert chosen.text in {"yes", "no"}

"""Runs of models that write: what is shown of them, and what becomes of a broken text."""

from decimal import Decimal

import pytest

from crowdrag.llm.models import Attempt
from crowdrag.runs.enums import RunState
from tests.llm.conftest import endpoint, local_model_url, paid, policy, server, slept, study
from writing.domain.generation import parameter_display
from writing.enums import AnswerOutcome
from writing.models import Response, WritingPrompt

from .test_model_writers import _without_waiting, came, campaign, style, topics

__all__ = ["_without_waiting", "endpoint", "local_model_url", "paid", "policy", "server", "slept", "study", "style"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_broken_text_is_kept_and_marked_and_is_no_response(study, endpoint, style, server):
    topics(study, "ok:23a6a508e08782d5bbe9[1,2,3]{3}")
    run = campaign(study, endpoint, style)
    assert list(came(run).values()) == [AnswerOutcome.BROKEN]
    assert run.model_answers.get().text.startswith("23a6")
    assert not Response.objects.exists()


def test_a_run_is_described_by_names_and_not_by_keys_of_rows(study, endpoint, style, server):
    topics(study, "words:40")
    run = campaign(study, endpoint, style)
    shown = parameter_display.describe(run)
    assert shown["Endpoint"] == endpoint.name
    assert shown["Styles"] == [style.label]
    prompt = WritingPrompt.objects.get(pk=run.parameters["prompt"])
    assert prompt.name in shown["Prompt"]
    assert not any(
        isinstance(value, int) and not isinstance(value, bool) for value in (shown["Endpoint"], shown["Prompt"])
    )


@pytest.mark.soak  # the demo's test has it write statements
def test_the_local_model_writes_a_text(settings, study, style, local_model_url):
    from crowdrag.llm.domain import endpoints

    local = endpoints.ensure_local(url=local_model_url)
    topics(study, "Why do leaves fall in autumn?")
    run = campaign(study, local, style, parameters={"seed": 1, "frequency_penalty": 0.6, "temperature": 0.4})
    assert run.state == RunState.DONE, run.error
    answer = run.model_answers.get()
    assert answer.text
    assert answer.outcome in {AnswerOutcome.WRITTEN, AnswerOutcome.OVERLONG}
    assert Decimal(Attempt.objects.get().cost) == 0

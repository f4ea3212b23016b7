"""The demo with the real local model: what it is asked for, and what comes of it."""

from dataclasses import replace

import pytest

from analysis.text import statements
from annotation.models import Item
from crowdrag.demo import setup, texts
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.llm import endpoints
from tests.demo.demo_runs import finish_runs
from tests.factories import NOW, ResponseFactory, RetrievedPassageFactory, StudyFactory, StyleFactory, TopicFactory
from writing.enums import Origin
from writing.llm_writers import prompts, writer_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.extended]


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path
    settings.LLM_URL = ""


def test_each_slot_that_nobody_wrote_is_planned_for_the_model(settings, local_model_url) -> None:
    settings.LLM_URL = local_model_url
    demo = setup.set_up(now=NOW)
    run = Run.objects.get(study=demo.study, kind="demo.write")
    judges_too = Run.objects.get(study=demo.study, kind="judge.model")
    for begun in (run, judges_too):
        lifecycle.cancel(run=begun)
    finish_runs(demo.study)
    people = {(r.topic_id, r.style_id) for r in demo.study.responses.filter(origin=Origin.HUMAN).included()}
    planned = {(topic, style) for unit in run.units.all() for topic, style in unit.payload["slots"]}
    assert len(planned) == 15 - len(people)
    assert not planned & people
    # It judges the pairs that people are asked in both orders, and is asked once.
    asked = {pk for unit in judges_too.units.all() for pk in unit.payload["items"]}
    pairs = set(Item.objects.filter(pk__in=asked).values_list("pair__a", "pair__b"))
    assert pairs
    assert pairs == {(b, a) for a, b in pairs}
    setup.set_up(now=NOW)
    assert Run.objects.filter(kind="judge.model").count() == 1


def test_the_local_model_writes_a_response_that_cites(settings, local_model_url) -> None:
    study = StudyFactory()
    for name in texts.STYLES:
        StyleFactory(study=study, name=name, instructions="Write a list.", target_words=60)
    queries = ("how do heat pumps work in the cold", "what do heat pumps move", "are heat pumps good in winter")
    for query in queries:
        topic = TopicFactory(study=study, query=query)
        for rank, text in enumerate(["Heat pumps move heat from outside to inside.", "They work below zero degrees."]):
            RetrievedPassageFactory(topic=topic, rank=rank, passage__study=study, passage__text=text)
        for name in ("essay", "news"):  # people's: nothing is left to write there
            ResponseFactory(topic=topic, style=study.styles.get(name=name))
    endpoints.ensure_local(url=local_model_url)
    # What it writes differs between processors, and so small a model may repeat itself without end.
    order = replace(setup.writing_order(study=study, now=NOW), accept_overlong=True)
    run = lifecycle.wait(writer_run.start(study=study, order=order, kind="demo.write"))
    assert run.state == RunState.DONE, run.error
    assert run.summary["answers"] == len(queries)
    answers = run.model_answers.select_related("style", "response")
    assert {answer.style.name for answer in answers} == {"bullet"}
    responses = [answer.response for answer in answers if answer.response]
    assert len(responses) == len(queries) - run.summary.get("broken", 0)
    assert responses
    for response in responses:
        assert response.origin == Origin.MODEL
        assert response.participant.specification["prompt"] == prompts.default_text(study)
        assert set(statements.parse(response.text, passages=2).cited_passages) <= {0, 1}
        assert response.text.startswith("- ")
    assert any(statements.parse(response.text, passages=2).cited_passages for response in responses)

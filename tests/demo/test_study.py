"""The demo study is set up by one call, as often as one likes, and its long work ends in results."""

from dataclasses import replace
from itertools import combinations

import pytest
from django.test import Client

from analysis.models import Table
from analysis.text import statements
from annotation.models import Campaign, Item, Judgment
from crowdrag.demo import judges, judging, setup, texts, work
from crowdrag.llm.domain import endpoints
from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from tests.factories import (
    NOW,
    ParticipantFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.domain.generation import campaigns, prompts, writers
from writing.enums import Origin

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path
    settings.LLM_URL = ""


def counts(study: Study) -> dict[str, int]:
    return {
        "topics": study.topics.count(),
        "passages": study.passages.count(),
        "human": study.responses.filter(origin=Origin.HUMAN).included().count(),
        "system": study.responses.filter(origin=Origin.SYSTEM).count(),
        "judgments": Judgment.objects.of_study(study).count(),
        "runs": study.runs.count(),
    }


def judged_in_waves(study: Study) -> set[tuple[int, int]]:
    items = Item.objects.filter(campaign__in=study.campaigns.exclude(name=judges.NAME))
    return set(items.values_list("pair__a", "pair__b"))


def finish_runs(study: Study) -> None:
    while run := study.runs.filter(state__in=[RunState.PLANNED, RunState.RUNNING]).order_by("id").first():
        assert running.wait(run).state == RunState.DONE, (run.kind, run.error)


def test_the_demo_is_set_up_judged_and_analysed_without_a_model() -> None:
    demo = setup.set_up(now=NOW)
    finish_runs(demo.study)
    found = counts(demo.study)
    assert found | {"judgments": 0, "runs": 0} == {
        "topics": 5, "passages": 100, "human": 8, "system": 10, "judgments": 0, "runs": 0,
    }  # fmt: skip
    campaign = Campaign.objects.get(study=demo.study, name=judging.NAME)
    assert campaign.is_simulated
    judged = Judgment.objects.filter(item__campaign=campaign).count()
    assert judged == 7 * 5 * sum(q.entries.count() for q in campaign.questionnaires.all())
    # Of each topic every pair, whatever people were asked to judge beside it.
    topics, _expected = judging.responses(demo.study)
    every = {frozenset(pair) for group in topics.values() for pair in combinations(group, 2)}
    shown = campaign.items.values_list("pair__a__external_id", "pair__b__external_id")
    assert {frozenset(pair) for pair in shown} == every
    assert all(person.is_simulated for person in demo.study.participants.filter(kind="CROWD"))
    tables = set(Table.objects.filter(run__study=demo.study).values_list("name", flat=True))
    assert tables >= {"agreement", "competence", "gold", "grades", "grade_means", "key_figures"}

    again = setup.set_up(now=NOW)
    finish_runs(again.study)
    assert counts(again.study) == found
    assert again.password == demo.password


@pytest.mark.extended
def test_what_the_model_wrote_is_judged_in_a_second_wave() -> None:
    study = setup.set_up(now=NOW).study
    finish_runs(study)
    judged = judged_in_waves(study)
    topic, style = study.topics.order_by("id")[0], study.styles.get(name="news")
    writer = ParticipantFactory(study=study, kind=ParticipantKind.MODEL)
    new = ResponseFactory(topic=topic, style=style, participant=writer, origin=Origin.MODEL)
    running.start(study=study, kind="demo.judge", now=NOW)
    finish_runs(study)
    added = judged_in_waves(study) - judged
    assert added
    assert all(new.pk in pair for pair in added)
    waves = study.campaigns.exclude(name=judges.NAME).order_by("id")
    assert list(waves.values_list("name", flat=True)) == [judging.NAME, judging.SECOND]
    running.start(study=study, kind="demo.judge", now=NOW)  # nothing is new: nothing is added
    finish_runs(study)
    assert study.campaigns.count() == 3


def test_the_login_that_is_printed_opens_the_study() -> None:
    demo = setup.set_up(now=NOW)
    finish_runs(demo.study)
    client = Client()
    client.post("/login/", {"username": demo.email, "password": demo.password})
    page = client.get("/studies/demo/")
    assert page.status_code == 200
    assert "simulated" in page.content.decode().lower()
    kept = setup.settings.DATA_DIR / "demo-password"
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.extended
def test_each_slot_that_nobody_wrote_is_planned_for_the_model(settings, local_model_url) -> None:
    settings.LLM_URL = local_model_url
    demo = setup.set_up(now=NOW)
    run = Run.objects.get(study=demo.study, kind="demo.write")
    judges_too = Run.objects.get(study=demo.study, kind="judge.model")
    for begun in (run, judges_too):
        running.cancel(run=begun)
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


@pytest.mark.extended
def test_the_local_model_writes_a_response_that_cites(settings, local_model_url) -> None:
    study = StudyFactory()
    topic = TopicFactory(study=study, query="how do heat pumps work in the cold")
    for rank, text in enumerate(["Heat pumps move heat from outside to inside.", "They work below zero degrees."]):
        RetrievedPassageFactory(topic=topic, rank=rank, passage__text=text)
    for name in texts.STYLES:
        StyleFactory(study=study, name=name, instructions="Write a list.", target_words=60)
    for name in ("essay", "news"):  # people's: nothing is left to write there
        ResponseFactory(topic=topic, style=study.styles.get(name=name))
    endpoints.ensure_local(url=local_model_url)
    # How long it gets is the model's: with other work beside it the same seed gives other words now and then.
    order = replace(work.order(study=study, now=NOW), accept_overlong=True)
    run = running.wait(campaigns.start(study=study, order=order, kind="demo.write"))
    assert run.state == RunState.DONE, run.error
    assert run.summary in ({"answers": 1, "written": 1}, {"answers": 1, "overlong": 1})
    answer = run.model_answers.select_related("style", "response").get()
    assert answer.style.name == "bullet"
    response = answer.response
    assert response.origin == Origin.MODEL
    assert response.participant.specification["prompt"] == prompts.default_text(study)
    parsed = statements.parse(response.text, passages=2)
    assert parsed.cited_passages
    assert set(parsed.cited_passages) <= {0, 1}
    assert response.text.startswith("- ")


def test_the_schema_bounds_citations_and_length() -> None:
    schema = writers.answer_schema(passages=3, words=250)["properties"]["statements"]
    assert schema["items"]["properties"]["citations"]["items"]["enum"] == [0, 1, 2]
    assert (schema["minItems"], schema["maxItems"]) == (4, 8)

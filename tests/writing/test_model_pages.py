"""Pages of models as writers: nothing is sent before its cost was shown, and what was said can be read."""

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.llm.models import Attempt, Endpoint
from crowdrag.runs.models import Run
from crowdrag.studies.enums import ParticipantKind, Role
from tests.factories import (
    NOW,
    MembershipFactory,
    ParticipantFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.domain.generation import campaigns, prompts
from writing.enums import AnswerOutcome, Origin
from writing.models import ModelAnswer, WritingPrompt

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint():
    return Endpoint.objects.create(
        name="somewhere", base_url="https://api.example.org/v1", model="m-1", is_allowed=True, concurrency=3
    )


@pytest.fixture(scope="module")
def stored(shared_rows):
    study = StudyFactory(slug="mine")
    style = StyleFactory(study=study, name="essay", label="Essay", instructions="Do not use a language model. Argue.")
    for number in range(4):
        topic = TopicFactory(study=study, external_id=f"t{number}")
        RetrievedPassageFactory(topic=topic, rank=0, passage__text=f"<script>passage {number}</script>")
    assert style
    return study


@pytest.fixture
def study(stored, db):
    return deepcopy(stored)


@pytest.fixture
def client(study):
    client = Client()
    client.force_login(MembershipFactory(study=study, role=Role.EDITOR).user)
    return client


NEW = "/studies/mine/writing/models/new/"


def filled(endpoint, **changed):
    return {
        "endpoint": endpoint.pk,
        "styles": ["essay"],
        "which": "all",
        "form": "text",
        "prompt": "Answer {query} from {passages}",
        "overlong": "2",
        **changed,
    }


def test_the_estimate_comes_first_and_what_starts_is_what_was_estimated(client, study, endpoint, monkeypatch):
    monkeypatch.setattr(campaigns, "ROUNDS", 1)
    page = client.get(NEW).content.decode()
    assert "Write about {words} words" in page
    response = client.post(NEW, filled(endpoint, start="x"))  # whoever comes with another order sees the estimate
    assert response.status_code == 200
    order, forecast = response.context["order"], response.context["forecast"]
    assert (forecast.wanted, forecast.estimate.requests) == (4, 4)
    page = response.content.decode()
    assert f'name="start" value="{order.digest}"' in page
    assert "&lt;script&gt;passage 0" in page  # the sample prompt, word for word, and harmless
    assert not Run.objects.exists()

    changed = client.post(NEW, filled(endpoint, words="100", start=order.digest))
    assert changed.context["order"].words == 100
    assert not Run.objects.exists()

    response = client.post(NEW, filled(endpoint, start=order.digest))
    run = Run.objects.get()
    assert response["Location"] == reverse("run", args=["mine", run.key])
    assert (run.kind, run.queue, run.units.count()) == (campaigns.KIND, "llm", 2)
    assert [len(unit.payload["slots"]) for unit in run.units.order_by("position")] == [3, 1]
    assert campaigns.Order.of(run) == order
    assert WritingPrompt.objects.get().text == "Answer {query} from {passages}"
    assert not Attempt.objects.exists()
    assert client.get(f"/studies/mine/runs/{run.key}/").status_code == 200


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prompt": "Answer {query}"}, "{passages}"),
        ({"prompt": "{query} {passages} {nonsense}"}, "{nonsense}"),
        ({"which": "chosen"}, "Name the topics"),
        ({"which": "chosen", "topics": "t0\nt9"}, "t9"),
        ({"styles": []}, "required"),
        ({"temperature": "3"}, "2"),
    ],
)
def test_an_order_that_makes_no_sense_is_sent_back(client, study, endpoint, changed, said):
    response = client.post(NEW, filled(endpoint, **changed))
    assert response.status_code == 422
    assert said in response.content.decode()
    assert not WritingPrompt.objects.exists()


def test_an_endpoint_that_is_not_allowed_cannot_be_chosen(client, study, endpoint):
    Endpoint.objects.update(is_allowed=False)
    assert client.post(NEW, filled(endpoint)).status_code == 422


def test_nothing_to_write_is_said_and_does_not_start(client, study, endpoint):
    for topic in study.topics.all():
        ResponseFactory(topic=topic, style=study.styles.get(), origin=Origin.MODEL)
    response = client.post(NEW, filled(endpoint, which="no_model"))
    assert "nothing to write" in response.content.decode()
    again = client.post(NEW, filled(endpoint, which="no_model", start=response.context["order"].digest))
    assert again.status_code == 422
    assert not Run.objects.exists()


def test_cost_and_what_is_left_are_said_in_figures(client, study, endpoint):
    Endpoint.objects.update(input_price=1_000_000, output_price=1_000_000)
    type(study).objects.update(llm_budget=500)
    response = client.post(NEW, filled(endpoint))
    forecast, page = response.context["forecast"], response.content.decode()
    assert forecast.estimate.cost == forecast.estimate.prompt_tokens + forecast.estimate.completion_tokens
    assert f"<dd>{study.currency}\u00a0{forecast.estimate.cost / 100:,.4f}</dd>" in page
    assert f"{study.currency}\u00a05.0000 left" in page
    assert "minor units" not in page
    assert "would stop there" in page


def test_money_without_a_budget_cannot_start(client, study, endpoint):
    Endpoint.objects.update(input_price=100)
    page = client.post(NEW, filled(endpoint)).content.decode()
    assert "no budget for models" in page
    assert 'name="start"' not in page


def test_answers_are_listed_by_outcome_and_lead_to_their_responses(client, study, endpoint):
    order = campaigns.Order(
        endpoint=endpoint.pk,
        prompt=prompts.ensure(study=study, text="{query} {passages}", now=NOW).pk,
        styles=(study.styles.get().pk,),
    )
    run = campaigns.start(study=study, order=order)
    writer = ParticipantFactory(
        study=study, kind=ParticipantKind.MODEL, specification=order.writer().specification, external_id="m-1/abc"
    )
    topics = list(study.topics.order_by("external_id"))
    response = ResponseFactory(topic=topics[0], style=study.styles.get(), participant=writer, origin=Origin.MODEL)
    for topic, outcome, text in [
        (topics[0], AnswerOutcome.WRITTEN, response.text),
        (topics[1], AnswerOutcome.REFUSED, "<b>I would rather not.</b>"),
        (topics[2], AnswerOutcome.EMPTY, ""),
    ]:
        ModelAnswer.objects.create(
            run=run,
            participant=writer,
            topic=topic,
            style=study.styles.get(),
            outcome=outcome,
            text=text,
            response=response if outcome == AnswerOutcome.WRITTEN else None,
            answered_at=NOW,
        )
    page = client.get(f"/studies/mine/writing/models/{run.key}/").content.decode()
    assert reverse("response", args=["mine", response.external_id]) in page
    assert "&lt;b&gt;I would rather not" in page
    refused = client.get(f"/studies/mine/writing/models/{run.key}/?outcome=REFUSED").context["page"]
    assert [answer.topic for answer in refused] == [topics[1]]
    listed = client.get("/studies/mine/writing/models/").content.decode()
    assert "refused: 1" in listed

    page = client.get(reverse("response", args=["mine", response.external_id])).content.decode()
    assert "m-1" in page
    assert "writing v1" in page
    assert "not kept here" in page  # the call: nothing was ever sent


def test_other_peoples_runs_are_not_here(client, study, endpoint):
    other = StudyFactory()
    run = Run.objects.create(
        study=other, kind=campaigns.KIND, queue="llm", code_version="x", created_at=NOW, parameters={}
    )
    assert client.get(f"/studies/mine/writing/models/{run.key}/").status_code == 404
    assert client.get("/studies/mine/writing/models/").status_code == 200

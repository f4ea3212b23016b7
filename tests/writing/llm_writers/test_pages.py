"""Pages of models as writers: nothing is sent before its cost was shown, and answers can be read."""

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.jobs.models import Run
from crowdrag.llm.models import Attempt, Endpoint
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
from writing.enums import AnswerOutcome, Origin
from writing.llm_writers import prompts, writer_run
from writing.models import ModelAnswer, WritingPrompt

pytestmark = pytest.mark.django_db
NEW = "/studies/mine/writing/models/new/"


@pytest.fixture(scope="module")
def stored(shared_rows):
    study = StudyFactory(slug="mine")
    StyleFactory(study=study, name="essay", label="Essay", instructions="Do not use a language model. Argue.")
    for number in range(4):
        topic = TopicFactory(study=study, external_id=f"t{number}")
        RetrievedPassageFactory(topic=topic, rank=0, passage__text=f"<script>passage {number}</script>")
    Endpoint.objects.create(
        name="somewhere", base_url="https://api.example.org/v1", model="m-1", is_allowed=True, concurrency=3
    )
    return study


@pytest.fixture
def study(stored, db):
    return deepcopy(stored)


@pytest.fixture
def client(study):
    client = Client()
    client.force_login(MembershipFactory(study=study, role=Role.EDITOR).user)
    return client


def order(client, **changed):
    """Send the form, filled in as far as nothing else is given."""
    filled = {
        "endpoint": Endpoint.objects.get().pk, "styles": ["essay"], "which": "all", "form": "text", "overlong": "2",
        "prompt": "Answer {query} from {passages}",
    }  # fmt: skip
    return client.post(NEW, filled | changed)


def test_the_estimate_comes_first_and_what_starts_is_what_was_estimated(client, study, monkeypatch):
    monkeypatch.setattr(writer_run, "ROUNDS", 1)
    assert client.get(NEW).status_code == 200
    estimated = order(client, start="x")  # whoever comes with another order sees the estimate
    digest, forecast = estimated.context["order"].digest, estimated.context["forecast"]
    assert (estimated.status_code, forecast.wanted, forecast.estimate.requests) == (200, 4, 4)
    page = estimated.content.decode()
    assert f'name="start" value="{digest}"' in page
    assert "&lt;script&gt;passage 0" in page  # the sample prompt, word for word, and harmless
    assert order(client, words="100", start=digest).context["order"].words == 100
    assert not Run.objects.exists()

    started = order(client, start=digest)
    run = Run.objects.get()
    assert started["Location"] == reverse("run", args=["mine", run.key])
    assert (run.kind, run.queue) == (writer_run.KIND, "llm")
    assert [len(unit.payload["slots"]) for unit in run.units.order_by("position")] == [3, 1]
    assert writer_run.Order.of(run) == estimated.context["order"]
    assert WritingPrompt.objects.get().text == "Answer {query} from {passages}"
    assert not Attempt.objects.exists()
    assert client.get(f"/studies/mine/runs/{run.key}/").status_code == 200


def test_an_order_that_makes_no_sense_is_sent_back(client, study):
    for changed, field in (
        ({"prompt": "Answer {query}"}, "prompt"),
        ({"which": "chosen"}, "topics"),
        ({"which": "chosen", "topics": "t0\nt9"}, "topics"),
        ({"styles": []}, "styles"),
        ({"temperature": "3"}, "temperature"),
    ):
        answer = order(client, **changed)
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field]), changed
    Endpoint.objects.update(is_allowed=False)
    assert list(order(client).context["form"].errors) == ["endpoint"]
    assert not WritingPrompt.objects.exists()


def test_where_nothing_is_left_to_write_nothing_starts(client, study):
    for topic in study.topics.all():
        ResponseFactory(topic=topic, style=study.styles.get(), origin=Origin.MODEL)
    estimated = order(client, which="no_model")
    assert order(client, which="no_model", start=estimated.context["order"].digest).status_code == 422
    assert not Run.objects.exists()


def test_cost_and_what_is_left_are_shown_in_figures_and_money_needs_a_budget(client, study):
    Endpoint.objects.update(input_price=1_000_000, output_price=1_000_000)
    assert 'name="start"' not in order(client).content.decode()
    type(study).objects.update(llm_budget=500)
    response = order(client)
    forecast, page = response.context["forecast"], response.content.decode()
    assert forecast.estimate.cost == forecast.estimate.prompt_tokens + forecast.estimate.completion_tokens
    assert f"<dd>{study.currency}\u00a0{forecast.estimate.cost / 100:,.4f}</dd>" in page
    assert f"{study.currency}\u00a05.0000" in page


def test_answers_are_listed_by_outcome_and_lead_to_their_responses(client, study):
    style = study.styles.get()
    prompt = prompts.ensure(study=study, text="{query} {passages}", now=NOW)
    asked = writer_run.Order(endpoint=Endpoint.objects.get().pk, prompt=prompt.pk, styles=(style.pk,))
    run = writer_run.start(study=study, order=asked)
    writer = ParticipantFactory(
        study=study, kind=ParticipantKind.MODEL, specification=asked.writer().specification, external_id="m-1/abc"
    )
    topics = list(study.topics.order_by("external_id"))
    response = ResponseFactory(topic=topics[0], style=style, participant=writer, origin=Origin.MODEL)
    for topic, outcome, text, of in (
        (topics[0], AnswerOutcome.WRITTEN, response.text, response),
        (topics[1], AnswerOutcome.REFUSED, "<b>I would rather not.</b>", None),
    ):
        ModelAnswer.objects.create(
            run=run, participant=writer, topic=topic, style=style, outcome=outcome, text=text, response=of,
            answered_at=NOW,
        )  # fmt: skip
    page = client.get(f"/studies/mine/writing/models/{run.key}/").content.decode()
    assert reverse("response", args=["mine", response.external_id]) in page
    assert "&lt;b&gt;I would rather not" in page
    refused = client.get(f"/studies/mine/writing/models/{run.key}/?outcome=REFUSED").context["page"]
    assert [answer.topic for answer in refused] == [topics[1]]
    assert str(run.key) in client.get("/studies/mine/writing/models/").content.decode()
    page = client.get(reverse("response", args=["mine", response.external_id])).content.decode()
    assert ["m-1" in page, "writing v1" in page] == [True, True]
    other = Run.objects.create(
        study=StudyFactory(), kind=writer_run.KIND, queue="llm", code_version="x", created_at=NOW
    )
    assert client.get(f"/studies/mine/writing/models/{other.key}/").status_code == 404

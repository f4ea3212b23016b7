"""Pages of models as judges: nothing is sent before its cost was shown, and what was said can be read, harmlessly."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain.judging_models import injecting, judging
from annotation.models import Campaign, JudgingAnswer, JudgingPrompt
from crowdrag.llm.models import Attempt, Call, Endpoint
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from tests.annotation import asked_again
from tests.factories import MembershipFactory, StudyFactory
from tests.pages.judged import furnish_model_judges

pytestmark = pytest.mark.django_db
JUDGES = "/studies/mine/judges/"
PROMPT = "{query} {questions} {form} {responses}"


@pytest.fixture
def study():
    return StudyFactory(slug="mine")


@pytest.fixture
def source(study):
    made = asked_again.campaign(study)
    for _pair in range(3):
        asked_again.pair(made, a="<script>a</script> text.", b="Other.")
    return made


@pytest.fixture
def endpoint():
    return Endpoint.objects.create(
        name="somewhere", base_url="https://api.example.org/v1", model="m-1", is_allowed=True, concurrency=3
    )


@pytest.fixture
def client(study):
    client = Client()
    client.force_login(MembershipFactory(study=study, role=Role.EDITOR).user)
    return client


def filled(by, of, **changed):
    return {
        "endpoint": by.pk,
        "source": of.pk,
        "inference": "COMBINED",
        "which": "both_orders",
        "both": "on",
        "repeats": "1",
        "prompt": PROMPT,
        "temperature": "0",
        "seed": "0",
        **changed,
    }


def test_the_estimate_comes_first_and_what_starts_is_what_was_estimated(client, study, source, endpoint):
    assert "{responses}" in client.get(f"{JUDGES}new/").content.decode()
    response = client.post(f"{JUDGES}new/", filled(endpoint, source, start="x"))
    assert response.status_code == 200
    order, forecast = response.context["order"], response.context["forecast"]
    assert (forecast.wanted, forecast.estimate.requests) == (6, 6)
    page = response.content.decode()
    assert f'name="start" value="{order.digest}"' in page
    assert "&lt;script&gt;a" in page
    assert not Run.objects.exists()
    changed = client.post(f"{JUDGES}new/", filled(endpoint, source, repeats="2", start=order.digest))
    assert changed.context["forecast"].estimate.requests == 12
    assert not Run.objects.exists()
    response = client.post(f"{JUDGES}new/", filled(endpoint, source, start=order.digest))
    run = Run.objects.get()
    assert response["Location"] == reverse("run", args=["mine", run.key])
    assert (run.kind, run.queue) == (judging.KIND, "llm")
    assert judging.Order.of(run) == order
    assert order.parameters == {"temperature": 0}
    assert JudgingPrompt.objects.get().text == PROMPT
    assert not Attempt.objects.exists()
    assert client.get(f"/studies/mine/runs/{run.key}/").status_code == 200


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prompt": "{query}"}, "{responses}"),
        ({"prompt": PROMPT + "{nonsense}"}, "{nonsense}"),
        ({"which": "sample"}, "how many"),
        ({"repeats": "0"}, "1"),
        ({"temperature": "9"}, "2"),
        ({"inference": "BOTH"}, "choice"),
        ({"source": "999999"}, "choice"),
        ({"prompt": "a\0"}, "Null"),
    ],
)
def test_an_order_that_makes_no_sense_is_sent_back(client, source, endpoint, changed, said):
    response = client.post(f"{JUDGES}new/", filled(endpoint, source, **changed))
    assert response.status_code == 422
    assert said in response.content.decode()
    assert not JudgingPrompt.objects.exists()


def test_an_endpoint_that_is_not_allowed_and_other_studies_campaigns_cannot_be_chosen(client, source, endpoint):
    other = asked_again.campaign()
    asked_again.pair(other)
    assert client.post(f"{JUDGES}new/", filled(endpoint, other)).status_code == 422
    Endpoint.objects.update(is_allowed=False)
    assert client.post(f"{JUDGES}new/", filled(endpoint, source)).status_code == 422


def test_a_measurement_is_estimated_and_started(client, study, source, endpoint):
    asked = filled(endpoint, source, dimension="quality_overall", n="4", bare="on")
    response = client.post(f"{JUDGES}measure/", asked)
    forecast, order = response.context["forecast"], response.context["order"]
    assert (forecast.wanted, forecast.estimate.requests) == (4, 24)
    client.post(f"{JUDGES}measure/", {**asked, "start": order.digest})
    assert Run.objects.get().kind == injecting.KIND
    asked_again.ask(asked_again.campaign(study), "elsewhere", asked_again.FORCED)
    refused = client.post(f"{JUDGES}measure/", {**asked, "dimension": "elsewhere"})
    assert refused.status_code == 422


def test_what_came_is_listed_by_outcome_and_shown_harmlessly(client, source):
    run, measured = furnish_model_judges(source)
    Call.objects.update(text="<b>I would rather not.</b>")
    listed = client.get(JUDGES).content.decode()
    assert "judged: 1" in listed
    assert "refused: 1" in listed
    assert reverse("model_judges_run", args=["mine", measured.key]) in listed
    page = client.get(f"{JUDGES}{run.key}/?outcome=REFUSED")
    assert [row.answer.outcome for row in page.context["answers"]] == ["REFUSED"]
    assert "&lt;b&gt;I would rather not" in page.content.decode()
    whole = client.get(f"{JUDGES}{run.key}/").content.decode()
    assert "own response" in whole
    assert "It names the moon." in whole
    found = client.get(f"{JUDGES}{measured.key}/").context["found"]
    assert (found.pairs, found.fenced.first.count, found.bare.first.count) == (6, 2, 3)
    assert client.get(f"{JUDGES}{run.key}/?outcome=nonsense&page=99").status_code == 200


def test_the_page_of_a_run_says_in_words_what_was_asked(client, source):
    for run in furnish_model_judges(source):
        endpoint = Endpoint.objects.get(pk=run.parameters["endpoint"])
        page = client.get(reverse("run", args=["mine", run.key])).content.decode()
        assert f"<dt>Endpoint</dt><dd>{endpoint.name}</dd>" in page
        assert f"<dt>Campaign</dt><dd>{source.name}</dd>" in page
        assert "<dt>How it is asked</dt><dd>all dimensions at once</dd>" in page
        assert "<dt>Bare</dt>" not in page
    Campaign.objects.filter(pk=source.pk).update(name="<b>Mine</b>")
    assert "<dd>&lt;b&gt;Mine&lt;/b&gt;</dd>" in client.get(reverse("run", args=["mine", run.key])).content.decode()


def test_the_pages_are_for_editors_of_the_study(client, study, source):
    run, _measured = furnish_model_judges(source)
    assert JudgingAnswer.objects.exists()
    viewer = Client()
    viewer.force_login(MembershipFactory(study=study, role=Role.VIEWER).user)
    stranger = Client()
    stranger.force_login(MembershipFactory(role=Role.OWNER).user)
    for path in ("", "new/", "measure/", f"{run.key}/"):
        assert viewer.get(JUDGES + path).status_code in {403, 404}
        assert stranger.get(JUDGES + path).status_code in {403, 404}
    assert client.get(f"/studies/{study.slug}/judges/{'0' * 8}-0000-4000-8000-{'0' * 12}/").status_code == 404

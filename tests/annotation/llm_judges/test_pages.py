"""Pages of models as judges: nothing is sent before its cost was shown, and what was said can be read, harmlessly."""

import pytest
from django.urls import reverse

from annotation.campaigns import questionnaires
from annotation.enums import CampaignState
from annotation.llm_judges import injection, judge_run
from annotation.llm_judges.stimuli import ItemSelection
from annotation.models import Campaign, JudgingPrompt
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Attempt, Call, Endpoint
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.llm_judges import source_campaign
from tests.annotation.shared import signed_in
from tests.factories import StudyFactory
from tests.pages.llm_judge_rows import furnish_model_judges

pytestmark = pytest.mark.django_db
JUDGES = "/studies/mine/judges/"
PROMPT = "{query} {questions} {form} {responses}"


@pytest.fixture
def study():
    return StudyFactory(slug="mine")


@pytest.fixture
def source(study):
    made = source_campaign.campaign(study)
    for _pair in range(3):
        source_campaign.pair(made, a="<script>a</script> text.", b="Other.")
    return made


@pytest.fixture
def endpoint():
    return Endpoint.objects.create(
        name="somewhere", base_url="https://api.example.org/v1", model="m-1", is_allowed=True, concurrency=3
    )


@pytest.fixture
def client(study):
    return signed_in(study)


def filled(by, of, **changed):
    order = {
        "endpoint": by.pk, "source": of.pk, "inference": "COMBINED", "which": "both_orders", "both": "on",
        "repeats": "1", "prompt": PROMPT, "temperature": "0", "seed": "0",
    }  # fmt: skip
    return order | changed


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
    assert (run.kind, run.queue) == (judge_run.KIND, "llm")
    assert judge_run.Order.of(run) == order
    assert order.parameters == {"temperature": 0}
    assert JudgingPrompt.objects.get().text == PROMPT
    assert not Attempt.objects.exists()
    assert client.get(f"/studies/mine/runs/{run.key}/").status_code == 200


def test_a_draft_is_listed_and_its_items_are_generated(endpoint):
    study = corpus(topics=3)
    made, client = draft(study), signed_in(study)
    page = reverse("model_judges_new", args=[study.slug])
    form = client.get(page).context["form"]
    assert (list(form.fields["source"].queryset), form["which"].value()) == ([made], ItemSelection.ALL)
    asked = filled(endpoint, made, which="all")
    for _ in range(2):
        found = client.post(page, asked).context
        assert found["forecast"].wanted == 90  # 15 pairs of 3 topics, in both orders
        assert questionnaires.measures(made).items == 60
    run = client.post(page, asked | {"start": found["order"].digest})
    assert run.status_code == 302
    assert Campaign.objects.get(pk=made.pk).state == CampaignState.DRAFT


def test_without_a_campaign_or_items_it_says_what_to_do(client, study, endpoint):
    page = f"{JUDGES}new/"
    assert reverse("campaign_new", args=[study.slug]) in client.get(page).content.decode()
    empty = draft(study)
    found = client.post(page, filled(endpoint, empty, which="all"))
    assert (found.status_code, found.context["forecast"].wanted) == (200, 0)
    assert not found.context["form"].errors


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "{query}"},
        {"prompt": PROMPT + "{nonsense}"},
        {"which": "sample"},
        {"repeats": "0"},
        {"temperature": "9"},
        {"inference": "BOTH"},
        {"source": "999999"},
        {"prompt": "a\0"},
    ],
)
def test_an_order_that_makes_no_sense_is_sent_back(client, source, endpoint, changed):
    response = client.post(f"{JUDGES}new/", filled(endpoint, source, **changed))
    fields = {"n"} if changed == {"which": "sample"} else changed.keys()
    assert (response.status_code, response.context["form"].errors.keys()) == (422, fields)
    assert not JudgingPrompt.objects.exists()


def test_an_endpoint_that_is_not_allowed_and_other_studies_campaigns_cannot_be_chosen(client, source, endpoint):
    other = source_campaign.campaign()
    source_campaign.pair(other)
    assert client.post(f"{JUDGES}new/", filled(endpoint, other)).status_code == 422
    Endpoint.objects.update(is_allowed=False)
    assert client.post(f"{JUDGES}new/", filled(endpoint, source)).status_code == 422


def test_a_measurement_is_estimated_and_started(client, study, source, endpoint):
    asked = filled(endpoint, source, dimension="quality_overall", n="4", bare="on")
    response = client.post(f"{JUDGES}measure/", asked)
    forecast, order = response.context["forecast"], response.context["order"]
    assert (forecast.wanted, forecast.estimate.requests) == (4, 24)
    client.post(f"{JUDGES}measure/", {**asked, "start": order.digest})
    assert Run.objects.get().kind == injection.KIND
    source_campaign.ask(source_campaign.campaign(study), "elsewhere", source_campaign.FORCED)
    refused = client.post(f"{JUDGES}measure/", {**asked, "dimension": "elsewhere"})
    assert refused.status_code == 422


def test_what_came_is_listed_by_outcome_and_shown_harmlessly(client, source):
    run, measured = furnish_model_judges(source)
    Call.objects.update(text="<b>I would rather not.</b>")
    Campaign.objects.filter(pk=source.pk).update(name="<b>Mine</b>")
    assert reverse("model_judges_run", args=["mine", measured.key]) in client.get(JUDGES).content.decode()
    page = client.get(f"{JUDGES}{run.key}/?outcome=REFUSED")
    assert [row.answer.outcome for row in page.context["answers"]] == ["REFUSED"]
    assert "&lt;b&gt;I would rather not" in page.content.decode()
    assert "It names the moon." in client.get(f"{JUDGES}{run.key}/").content.decode()
    found = client.get(f"{JUDGES}{measured.key}/").context["found"]
    assert (found.pairs, found.fenced.first.count, found.bare.first.count) == (6, 2, 3)
    assert client.get(f"{JUDGES}{run.key}/?outcome=nonsense&page=99").status_code == 200
    assert client.get(f"{JUDGES}{'0' * 8}-0000-4000-8000-{'0' * 12}/").status_code == 404
    for each in (run, measured):
        page = client.get(reverse("run", args=["mine", each.key])).content.decode()
        endpoint = Endpoint.objects.get(pk=each.parameters["endpoint"])
        assert f"<dd>{endpoint.name}</dd>" in page
        assert "<dd>&lt;b&gt;Mine&lt;/b&gt;</dd>" in page

"""Items with known labels and items to learn from, by scripts: as on the page of a campaign's checks."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.enums import CampaignKind, CampaignState, Judges
from annotation.models import Campaign, Item, KnownLabel, Pair, Questionnaire, TrainingItem
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.campaigns.test_api import campaigns, script
from tests.annotation.shared import made_once
from tests.factories import CampaignFactory, ItemFactory, JudgmentFactory, QuestionnaireItemFactory, ResponseFactory
from writing.models import Response

pytestmark = pytest.mark.django_db


stored, campaign = made_once(lambda: draft(corpus(topics=3)))


@pytest.fixture
def client(campaign: Campaign) -> APIClient:
    return script(campaign.study)


def at(campaign: Campaign, step: str = "known/") -> str:
    return campaigns(campaign.study, campaign.pk, step)


def asked(campaign: Campaign) -> list[str]:
    return list(campaign.campaign_dimensions.order_by("position").values_list("dimension__name", flat=True))


def pair(campaign: Campaign) -> list[str]:
    """The ids of two responses to one topic."""
    first = Response.objects.filter(study=campaign.study).order_by("external_id")
    return [each.external_id for each in first[:2]]


def label(campaign: Campaign, value: int = 1, why: str = "") -> dict[str, Any]:
    return {"dimension": asked(campaign)[0], "value": value, "explanation": why}


def made(client: APIClient, campaign: Campaign, **more: Any) -> dict[str, Any]:
    given = {"responses": pair(campaign), "labels": [label(campaign, why="It cites.")], **more}
    answer = client.post(at(campaign), given, format="json")
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def test_an_item_is_gold_then_teaches_and_then_is_known_no_more(campaign: Campaign, client: APIClient) -> None:
    client.post(at(campaign, "draw/"))
    assert Questionnaire.objects.exists()
    item = made(client, campaign)
    assert (item["responses"], item["teaches"]) == (pair(campaign), False)
    assert item["labels"] == [label(campaign, why="It cites.")]
    assert not Questionnaire.objects.exists()  # drawn anew, with it
    assert client.get(at(campaign)).json()["results"] == [item]
    # The same pair is one item, the other order another.
    again, turned = made(client, campaign, teaches=True), made(client, campaign, responses=pair(campaign)[::-1])
    assert (again["id"], again["teaches"], turned["id"] == item["id"]) == (item["id"], True, False)
    address = at(campaign, f"known/{item['id']}/")
    given = {"labels": [label(campaign, -1)], "teaches": True}
    for _ in range(2):
        changed = client.put(address, given, format="json").json()
        assert (changed["teaches"], changed["labels"]) == (True, [label(campaign, -1)])
    assert client.get(address).json() == changed
    assert TrainingItem.objects.count() == 1
    assert client.put(address, {"labels": given["labels"]}, format="json").json()["teaches"] is False
    assert client.delete(address).status_code == 204
    assert (client.get(address).status_code, client.delete(address).status_code) == (404, 404)
    assert not KnownLabel.objects.filter(item=item["id"]).exists()


@pytest.mark.parametrize(
    ("change", "status", "pointer"),
    [
        ({"responses": ["nobody's", "nothing"]}, 422, "#/responses"),
        ({"responses": []}, 400, "#/responses"),
        ({"labels": []}, 400, "#/labels"),
        ({"labels": [{"dimension": "beauty", "value": 1}]}, 422, "#/labels"),
        ({"label": 1}, 400, "#/label"),
    ],
)
def test_what_cannot_be_known_is_refused_and_nothing_is_made(
    campaign: Campaign, client: APIClient, change: dict[str, Any], status: int, pointer: str
) -> None:
    given = {"responses": pair(campaign), "labels": [label(campaign)], **change}
    answer = client.post(at(campaign), given, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer), answer.content
    assert answer.json()["remedy"]
    assert not KnownLabel.objects.exists()


def test_a_label_that_is_no_option_makes_no_item_either(campaign: Campaign, client: APIClient) -> None:
    client.post(at(campaign, "draw/"))
    before = Item.objects.count()
    other = [*Response.objects.filter(study=campaign.study).order_by("-external_id")[:2]]
    known = [label(campaign, 7)]
    for responses, pointer in (([each.external_id for each in other], "labels"), (pair(campaign)[:1], "responses")):
        answer = client.post(at(campaign), {"responses": responses, "labels": known}, format="json")
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"#/{pointer}")
    assert (Item.objects.count(), Questionnaire.objects.exists()) == (before, True)


def test_a_campaign_that_shows_one_at_a_time_knows_labels_of_one(client: APIClient, campaign: Campaign) -> None:
    one = draft(campaign.study, name="alone", kind=CampaignKind.POINTWISE)
    name = one.campaign_dimensions.order_by("position").select_related("dimension")[0].dimension
    given = {"responses": pair(campaign)[:1], "labels": [{"dimension": name.name, "value": name.options[0]["value"]}]}
    answer = client.post(at(one), given, format="json")
    assert (answer.status_code, answer.json()["responses"]) == (201, pair(campaign)[:1]), answer.content
    two = client.post(at(one), {**given, "responses": pair(campaign)}, format="json")
    assert (two.status_code, two.json()["errors"][0]["pointer"]) == (422, "#/responses")


def test_once_people_judge_nothing_of_it_changes(campaign: Campaign, client: APIClient) -> None:
    item = made(client, campaign)
    Campaign.objects.filter(pk=campaign.pk).update(state=CampaignState.CLOSED, has_slots=True)
    address = at(campaign, f"known/{item['id']}/")
    answers = [
        client.put(address, {"labels": [label(campaign, -1)]}, format="json"),
        client.delete(address),
        client.post(at(campaign), {"responses": pair(campaign), "labels": [label(campaign)]}, format="json"),
    ]
    assert [(each.status_code, each.json()["code"]) for each in answers] == [(409, "conflict")] * 3
    assert client.get(address).json() == item


@pytest.mark.extended
def test_a_change_of_what_somebody_else_changed_meanwhile_is_refused(campaign: Campaign, client: APIClient) -> None:
    address = at(campaign, f"known/{made(client, campaign)['id']}/")
    seen, given = client.get(address)["ETag"], {"labels": [label(campaign, -1)]}
    done = client.put(address, given, format="json", headers={"If-Match": seen})
    assert (done.status_code, done["ETag"]) == (200, client.get(address)["ETag"])
    assert client.put(address, given, format="json", headers={"If-Match": seen}).status_code == 412


def test_pairs_that_experts_agreed_on_are_proposed(campaign: Campaign, client: APIClient) -> None:
    study, dimension = (
        campaign.study,
        campaign.campaign_dimensions.select_related("dimension").order_by("position")[0].dimension,
    )
    left = ResponseFactory(study=study, topic__study=study, style__study=study)
    right = ResponseFactory(study=study, topic=left.topic, style=left.style)
    judged = CampaignFactory(study=study, judges=Judges.EXPERT, kind=CampaignKind.EXPERT)
    item = ItemFactory(campaign=judged, pair=Pair.objects.create(study=study, a=left, b=right), topic=left.topic)
    entry = QuestionnaireItemFactory(item=item)
    for _ in range(2):
        JudgmentFactory(entry=entry, dimension=dimension, value=-1)
    (found,) = client.get(at(campaign, "known-proposals/")).json()["results"]
    assert found["responses"] == [left.external_id, right.external_id]
    assert (found["labels"], found["judges"], found["agreement"]) == ({dimension.name: -1}, 2, 1.0)
    assert client.get(at(campaign, "known-proposals/?pool=CROWD")).json() == {"results": []}
    wrong = client.get(at(campaign, "known-proposals/?pool=MODEL"))
    assert (wrong.status_code, wrong.json()["errors"][0]["parameter"]) == (400, "pool")

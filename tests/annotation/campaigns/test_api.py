"""Campaigns and judgments by scripts: done as on pages, and refused in the same words."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.enums import AssignmentState, CampaignState, Judges
from annotation.models import Campaign, Judgment, Slot
from crowdrag.accounts.enums import Scope
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks.models import Message
from tests.annotation.campaigns.corpus_to_judge import corpus
from tests.annotation.shared import made_once
from tests.api.conftest import by_token
from tests.factories import CampaignFactory, JudgmentFactory, MembershipFactory, StudyFactory

pytestmark = pytest.mark.django_db


def script(study: Study, role: Role = Role.EDITOR, *scopes: Scope) -> APIClient:
    """A script of a new member of a study."""
    return by_token(MembershipFactory(study=study, role=role).user, *scopes)


def campaigns(study: Study, pk: int | None = None, step: str = "") -> str:
    """The address of a study's campaigns, of one, or of a step of it."""
    base = f"/api/v1/studies/{study.slug}/campaigns/"
    return base if pk is None else f"{base}{pk}/{step}"


def made(client: APIClient, study: Study, **fields: Any) -> dict[str, Any]:
    answer = client.post(campaigns(study), {"name": "Tides", "pay": 250, **fields}, format="json")
    assert answer.status_code == 201, answer.content
    assert answer["Location"].endswith(campaigns(study, answer.data["id"]))
    return dict(answer.data)


stored, study = made_once(lambda: corpus(topics=4))


@pytest.fixture
def client(study: Study) -> APIClient:
    return script(study)


def test_a_campaign_is_made_changed_opened_paused_reopened_and_closed(study: Study, client: APIClient) -> None:
    campaign = made(client, study, k=3)
    assert (campaign["state"], campaign["k"], campaign["judges"]) == ("DRAFT", 3, "CROWD")
    assert campaign["instructions"]
    assert campaign["asks"][0]["options"]
    address = campaigns(study, campaign["id"])
    assert client.get(address).json() == client.get(campaigns(study)).json()["results"][0]
    changed = client.patch(address, {"minutes": 20, "eligibility": {"languages": ["de"]}}, format="json")
    assert (changed.status_code, changed.data["minutes"], changed.data["k"]) == (200, 20, 3)
    assert changed.data["eligibility"]["languages"] == ["de"]
    for step, state in (("open/", "OPEN"), ("pause/", "PAUSED"), ("reopen/", "OPEN"), ("close/", "CLOSED")):
        for _ in range(2):
            answer = client.post(address + step)
            assert (answer.status_code, answer.data.get("state")) == (200, state), step
    assert Slot.objects.filter(campaign=campaign["id"]).count() == 18
    assert not Message.objects.exists()  # nobody asked to be told


@pytest.mark.extended
def test_experts_judge_another_campaigns_items(study: Study, client: APIClient) -> None:
    source = made(client, study)["id"]
    expert = made(client, study, name="Experts", kind="EXPERT", source=source)
    assert (expert["judges"], expert["source"], expert["k"]) == ("EXPERT", source, 3)
    other = CampaignFactory(study=StudyFactory(slug="other"))
    answer = client.post(campaigns(study), {"name": "Strangers", "kind": "EXPERT", "source": other.pk}, format="json")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("given", "status", "pointer"),
    [
        ({"name": ""}, 400, "#/name"),
        ({"price": 1}, 400, "#/price"),
        ({"kind": "EXPERT"}, 422, "#/source"),
        ({"eligibility": {"countries": ["Atlantis"]}}, 400, "#/eligibility/countries/0"),
        ({"eligibility": {"shoe_size": 43}}, 400, "#/eligibility/shoe_size"),
    ],
)
def test_what_is_wrong_is_said_by_field(
    study: Study, client: APIClient, given: dict[str, Any], status: int, pointer: str
) -> None:
    answer = client.post(campaigns(study), {"name": "Tides"} | given, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)
    assert not Campaign.objects.exists()


def test_a_campaign_that_lacks_something_says_what_and_stays_a_draft(study: Study, client: APIClient) -> None:
    address = campaigns(study, made(client, study, pay=None)["id"])
    answer = client.post(f"{address}open/")
    assert (answer.status_code, answer.json()["code"], len(answer.json()["errors"])) == (409, "conflict", 1)
    assert client.post(f"{address}close/").status_code == 409
    assert Campaign.objects.get().state == CampaignState.DRAFT


@pytest.mark.extended
def test_what_people_were_promised_is_not_taken_back(study: Study, client: APIClient) -> None:
    address = campaigns(study, made(client, study)["id"])
    client.post(address + "open/")
    answer = client.patch(address, {"pay": 100}, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/pay")
    assert client.patch(address, {"pay": 300}, format="json").data["pay"] == 300


def test_what_models_judge_is_shown_and_not_changed() -> None:
    campaign = CampaignFactory(judges=Judges.MODEL, inference="COMBINED")
    client = script(campaign.study)
    address = campaigns(campaign.study, campaign.pk)
    assert client.get(address).data["judges"] == "MODEL"
    assert client.patch(address, {"name": "x"}, format="json").status_code == 404
    assert client.post(address + "close/").status_code == 404


@pytest.fixture
def judged(db: None) -> Judgment:
    """A judgment that counts, and one of another study."""
    JudgmentFactory(item__campaign__study=StudyFactory(slug="other"))
    judgment = JudgmentFactory(value=-1, justification="=A is better")
    judgment.assignment.state = AssignmentState.ACCEPTED
    judgment.assignment.save()
    return judgment


def listed(judgment: Judgment, **filters: Any) -> list[dict[str, Any]]:
    study = judgment.item.campaign.study
    answer = script(study, Role.VIEWER).get(f"/api/v1/studies/{study.slug}/judgments/", filters)
    assert answer.status_code == 200, answer.content
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def test_judgments_are_listed_as_they_were_given_by_pseudonym(judged: Judgment) -> None:
    (row,) = listed(judged)
    pair, assignment = judged.item.pair, judged.assignment
    assert row == {
        "id": judged.pk,
        "campaign": judged.item.campaign_id,
        "questionnaire": assignment.questionnaire.external_id,
        "participant": assignment.participant.external_id,
        "item": judged.item_id,
        "topic": judged.item.topic.external_id,
        "response": None,
        "response_a": pair.a.external_id,
        "response_b": pair.b.external_id,
        "statement": None,
        "passage": None,
        "dimension": judged.dimension.name,
        "version": judged.dimension.version,
        "value": -1,
        "is_unsure": False,
        "justification": "=A is better",
        "repeat": 0,
        "state": "ACCEPTED",
        "is_included": True,
        "judged_at": None,
    }


def test_judgments_are_filtered(judged: Judgment) -> None:
    cases: dict[str, tuple[Any, Any]] = {
        "campaign": (judged.item.campaign_id, judged.item.campaign_id + 1),
        "judges": ("CROWD", "MODEL"),
        "dimension": (judged.dimension.name, "x"),
        "participant": (judged.assignment.participant.external_id, "x"),
        "topic": (judged.item.topic.external_id, "x"),
        "counted": ("true", "false"),
    }
    assert len(listed(judged, **{name: keeps for name, (keeps, _drops) in cases.items()})) == 1
    for name, (_keeps, drops) in cases.items():
        assert listed(judged, **{name: drops}) == [], name
    study = judged.item.campaign.study
    for name, value in (("campaign", "one"), ("campaign", "1e99"), ("judges", "CATS"), ("colour", "red")):
        answer = script(study, Role.VIEWER).get(f"/api/v1/studies/{study.slug}/judgments/", {name: value})
        assert (answer.status_code, answer.json()["errors"][0].get("parameter")) == (400, name)

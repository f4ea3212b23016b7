"""A campaign's goal through the API: set, read, list looks, refuse what is impossible."""

import pytest
from rest_framework.test import APIClient

from annotation.campaigns import goals
from annotation.enums import GoalKind
from annotation.progress import goal_looks
from crowdrag.studies.enums import Role
from tests.annotation import open_campaign
from tests.annotation.quality import screened
from tests.factories import NOW, MembershipFactory

pytestmark = pytest.mark.django_db


def client_of(here: open_campaign.World, role: Role = Role.EDITOR) -> APIClient:
    client = APIClient()
    client.force_login(MembershipFactory(study=here.study, role=role).user)
    return client


def address(here: open_campaign.World, rest: str = "") -> str:
    return f"/api/v1/studies/{here.study.slug}/campaigns/{here.campaign.pk}/goal/{rest}"


def body(here: open_campaign.World, **fields: object) -> dict:
    first, second = goals.systems_of(here.study)[:2]
    return {"kind": "better", "dimension": here.dimensions[0].name, "systems": [first, second], "margin": 0.5, **fields}


def test_a_goal_is_set_read_and_removed() -> None:
    here = open_campaign.world(topics=1)
    client = client_of(here)
    assert client.get(address(here)).json()["kind"] is None
    answer = client.put(address(here), body(here, closes_campaign=True), format="json")
    assert answer.status_code == 200, answer.content
    shown = client.get(address(here)).json()
    assert (shown["kind"], shown["margin"], shown["closes_campaign"]) == ("better", 0.5, True)
    assert client.delete(address(here)).status_code == 204
    assert goals.find_goal(here.campaign) is None


def test_impossible_goals_say_which_field_is_wrong() -> None:
    here = open_campaign.world(topics=1)
    answer = client_of(here).put(address(here), body(here, systems=["human", "nobody"]), format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/systems"


def test_looks_are_listed_and_fix_the_goal() -> None:
    here = open_campaign.world(topics=2, k=3)
    screened.handed_in(here, start=NOW)
    client = client_of(here)
    client.put(address(here), body(here), format="json")
    goal_looks.take_look(goal=goals.find_goal(here.campaign), now=NOW)
    rows = client_of(here, Role.VIEWER).get(address(here, "looks/")).json()["results"]
    assert [(row["outcome"], row["answer"], row["closed_at"]) for row in rows] == [("undecided", None, None)]
    assert client.put(address(here), body(here, kind=GoalKind.RANKING, margin=0), format="json").status_code == 422
    assert client.put(address(here), body(here, closes_campaign=True), format="json").status_code == 200
    assert client.delete(address(here)).status_code == 422


def test_viewers_change_nothing() -> None:
    here = open_campaign.world(topics=1)
    assert client_of(here, Role.VIEWER).put(address(here), body(here), format="json").status_code == 403

"""A campaign before it is launched, by scripts: its design, its questions, what people are told, what it comes to."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.campaigns import design
from annotation.models import Campaign, Dimension, Questionnaire, Slot
from annotation.quality import attention_checks
from crowdrag.studies.models import Study
from tests.annotation.campaigns.corpus_to_judge import corpus
from tests.annotation.campaigns.test_api import campaigns, made, script
from tests.annotation.shared import made_once

pytestmark = pytest.mark.django_db
BETTER = {
    "name": "clearer",
    "label": "Clarity",
    "question": "Which answer is clearer?",
    "options": [{"value": 1, "label": "B"}, {"value": -1, "label": "A"}],
}


stored, study = made_once(lambda: corpus(topics=4))


@pytest.fixture
def client(study: Study) -> APIClient:
    return script(study)


@pytest.fixture
def draft(client: APIClient, study: Study) -> str:
    """The address of a draft."""
    return campaigns(study, made(client, study, k=3)["id"])


def put(client: APIClient, address: str, data: Any, **headers: str) -> Any:
    return client.put(address, data, format="json", headers=headers)


def patch(client: APIClient, address: str, data: Any, **headers: str) -> Any:
    return client.patch(address, data, format="json", headers=headers)


def test_a_design_is_read_and_changed_while_it_is_a_draft(client: APIClient, draft: str) -> None:
    usual = client.get(f"{draft}design/").json()
    assert (usual["items_per_questionnaire"], usual["topics"], usual["remainder"]) == (15, [], "even")
    answer = patch(client, f"{draft}design/", {"topic_sample": 2, "seed": 7, "reverse_share": 0.5})
    assert answer.status_code == 200, answer.content
    assert answer.json() == usual | {"topic_sample": 2, "seed": 7, "reverse_share": 0.5}
    assert design.read_design(Campaign.objects.get().design).topic_sample == 2
    assert client.get(f"{draft}design/").json() == answer.json()
    client.post(f"{draft}open/")
    assert patch(client, f"{draft}design/", {"seed": 8}).status_code == 409
    assert patch(client, f"{draft}design/", {"seed": 7}).status_code == 200  # it is so already


def test_a_design_or_questions_that_cannot_be_are_refused_by_field(client: APIClient, draft: str) -> None:
    text_option = [{"value": "1", "label": "A"}]
    for part, given, status, pointer in (
        ("design/", {"reverse_share": 2}, 400, "#/reverse_share"),
        ("design/", {"styles": ["baroque"]}, 422, "#/styles"),
        ("design/", {"origins": ["CATS"]}, 400, "#/origins/0"),
        ("questions/", {"questions": []}, 400, "#/questions"),
        ("questions/", {"questions": [BETTER | {"name": "Clearer!"}]}, 400, "#/questions/0/name"),
        ("questions/", {"questions": [BETTER | {"options": text_option}]}, 400, "#/questions/0/options"),
        ("questions/", {"questions": [BETTER | {"colour": "red"}]}, 400, "#/questions/0/colour"),
    ):
        answer = (patch if part == "design/" else put)(client, draft + part, given)
        assert answer.status_code == status, given
        assert answer.json()["errors"][0]["pointer"].startswith(pointer)


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(client: APIClient, draft: str) -> None:
    agree = {"text": "Agree.", "text_licence": "CC-BY-4.0"}
    for part, send, first, second in (
        ("", patch, {"pay": 300}, {"pay": 400}),
        ("design/", patch, {"seed": 1}, {"seed": 2}),
        ("questions/", put, {"questions": [BETTER]}, {"questions": [BETTER | {"label": "Clear"}]}),
        ("instructions/", put, {"text": "Read."}, {"text": "Judge."}),
        ("consent/", put, agree, agree | {"text": "Agree?"}),
        ("checks/", patch, {"checks": 1}, {"checks": 2}),
    ):
        seen = client.get(draft + part)["ETag"]
        done = send(client, draft + part, first, **{"If-Match": seen})
        assert done.status_code == 200, done.content
        assert send(client, draft + part, second, **{"If-Match": seen}).status_code == 412
        assert client.get(draft + part).json() == done.json()
        assert client.get(draft + part)["ETag"] == done["ETag"]


def test_questions_are_changed_and_a_reworded_one_is_a_new_version(client: APIClient, draft: str) -> None:
    address = f"{draft}questions/"
    first = put(client, address, {"questions": [BETTER]})
    assert first.status_code == 200, first.content
    (asked,) = first.json()["questions"]
    assert (asked["name"], asked["version"], asked["options"][0]) == ("clearer", 1, {"value": -1, "label": "A"})
    again = put(client, address, {"questions": [BETTER | {"question": "Which one is clearer?"}]})
    assert again.json()["questions"][0]["version"] == 2
    assert Dimension.objects.filter(name="clearer").count() == 2
    rating = [{"value": n, "label": str(n)} for n in (1, 2, 3)]
    refused = put(client, address, {"questions": [BETTER | {"options": rating}]})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "#/questions")
    assert client.get(address).json() == again.json()
    client.post(f"{draft}open/")
    assert put(client, address, {"questions": [BETTER]}).status_code == 409


@pytest.mark.extended
def test_what_people_are_told_is_changed_while_it_is_a_draft(client: APIClient, draft: str) -> None:
    told = put(client, f"{draft}instructions/", {"text": "Read both.\n\nThen choose."})
    assert told.json()["text"] == "Read both.\n\nThen choose."
    agreed = {"text": "Nothing is kept.", "text_licence": "CC0-1.0", "timing_licence": ""}
    assert put(client, f"{draft}consent/", agreed).json().items() >= agreed.items()
    assert client.get(draft).json()["instructions"] == "Read both.\n\nThen choose."
    assert put(client, f"{draft}instructions/", {"text": "   "}).status_code == 422
    client.post(f"{draft}open/")
    assert put(client, f"{draft}instructions/", {"text": "Other."}).status_code == 409
    assert put(client, f"{draft}consent/", agreed | {"text": "Other."}).status_code == 409


def test_checks_are_set_and_unfair_ones_refused(client: APIClient, draft: str) -> None:
    usual = client.get(f"{draft}checks/").json()
    assert (usual["checks"], tuple(usual["nonsense"])) == (0, attention_checks.defaults().nonsense)
    assert patch(client, f"{draft}checks/", {"checks": 2}).json() == usual | {"checks": 2}
    assert client.get(f"{draft}design/").json()["checks"] == 2
    assert patch(client, f"{draft}checks/", {"instructed": ["Choose anything."]}).status_code == 422
    client.post(f"{draft}open/")
    assert patch(client, f"{draft}checks/", {"checks": 1}).status_code == 409


@pytest.mark.extended
def test_a_forecast_says_what_a_campaign_comes_to_and_what_it_lacks(client: APIClient, draft: str) -> None:
    before = client.get(f"{draft}forecast/").json()
    assert (before["is_drawn"], before["problems"], before["k"]) == (False, [], 3)
    assert before["total"] == before["questionnaires"] * 3 * 250
    drawn = client.post(f"{draft}draw/").json()
    assert (drawn["is_drawn"], drawn["items"]) == (True, before["items"])
    assert Questionnaire.objects.count() == drawn["questionnaires"] == before["questionnaires"]
    patch(client, draft, {"pay": None})
    assert client.get(f"{draft}forecast/").json()["problems"]
    patch(client, f"{draft}design/", {"seed": 9})
    assert client.get(f"{draft}forecast/").json()["is_drawn"] is False
    patch(client, draft, {"pay": 250})
    client.post(f"{draft}open/")
    assert client.post(f"{draft}draw/").status_code == 409


@pytest.mark.extended
def test_more_judgments_are_asked_for_once_however_often_it_is_sent(client: APIClient, draft: str) -> None:
    assert client.get(f"{draft}extension/", {"k": 5}).status_code == 409  # it is a draft
    client.post(f"{draft}open/")
    asked = Slot.objects.count()
    said = client.get(f"{draft}extension/", {"k": 5}).json()
    assert said == {"k": 5, "more": 2, "places": asked // 3 * 2, "cost": asked // 3 * 2 * 250}
    for key in ("a", "a", "b"):
        answer = client.post(f"{draft}extension/", {"k": 5}, format="json", headers={"Idempotency-Key": key})
        assert answer.status_code == 200, answer.content
        assert answer.json()["places"] == (said["places"] if key == "a" else 0)
    assert Slot.objects.count() == asked + said["places"]
    fewer = client.post(f"{draft}extension/", {"k": 2}, format="json")
    assert (fewer.status_code, fewer.json()["errors"][0]["pointer"]) == (422, "#/k")
    wrong = client.get(f"{draft}extension/", {"k": "many"})
    assert (wrong.status_code, wrong.json()["errors"][0]["parameter"]) == (400, "k")


@pytest.mark.extended
def test_a_draft_is_copied_and_deleted(client: APIClient, draft: str) -> None:
    made = client.post(f"{draft}clone/", {"name": "again"}, format="json")
    assert (made.status_code, made.json()["name"], made.json()["k"], made.json()["state"]) == (201, "again", 3, "DRAFT")
    assert client.post(f"{draft}clone/", {"name": "again"}, format="json").status_code == 422
    assert client.delete(draft).status_code == 204
    assert client.get(draft).status_code == 404
    assert client.get(made["Location"]).status_code == 200

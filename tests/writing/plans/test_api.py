"""The writing plan and how far writing is, by scripts: as on the pages of the plan and of progress."""

from copy import deepcopy
from typing import Any

import pytest
from rest_framework.test import APIClient

from crowdrag.accounts.enums import Scope
from crowdrag.audit.models import AccessLogEntry
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, RetrievedPassageFactory, StudyFactory, TopicFactory
from tests.submitted_responses import submitted
from tests.writing import open_plan
from writing.enums import TaskState as S
from writing.models import WritingPlan, WritingTask

pytestmark = pytest.mark.django_db


def script(study: Study, role: Role = Role.EDITOR, *scopes: Scope) -> APIClient:
    return by_token(MembershipFactory(study=study, role=role).user, *scopes)


def at(study: Study, step: str = "plan/") -> str:
    return f"/api/v1/studies/{study.slug}/writing/{step}"


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    made = StudyFactory()
    for n in range(3):
        RetrievedPassageFactory(topic=TopicFactory(study=made, external_id=f"t-{n}"), rank=0)
    return made


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


@pytest.fixture
def client(study: Study) -> APIClient:
    return script(study)


def test_a_plan_is_made_changed_opened_topped_up_and_closed(study: Study, client: APIClient) -> None:
    assert client.get(at(study)).status_code == 404
    for _ in range(2):
        made = client.post(at(study))
        assert (made.status_code, made.data["is_open"]) == (201, False)
    assert WritingPlan.objects.count() == 1
    early = client.post(at(study, "plan/open/"))
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    assert early.json()["errors"][0]["code"] == "missing"
    given = {"styles": ["essay"], "slots": 2, "pay": 300, "fee": 30, "trial_topics": ["t-0"], "wage_floor": 1200}
    changed = client.patch(at(study), given, format="json")
    assert changed.status_code == 200, changed.content
    assert {name: changed.data[name] for name in given} == given
    assert changed.json() == client.get(at(study)).json()
    forecast = client.get(at(study, "plan/forecast/")).json()
    assert (forecast["responses"], forecast["each"], forecast["total"], forecast["problems"]) == (4, 330, 1320, [])
    for step, is_open in (("plan/open/", True), ("plan/open/", True), ("plan/close/", False), ("plan/close/", False)):
        answer = client.post(at(study, step))
        assert (answer.status_code, answer.data.get("is_open")) == (200, is_open), step
    assert WritingTask.objects.filter(study=study, state=S.OPEN).count() == 4
    client.post(at(study, "plan/open/"))
    client.patch(at(study), {"slots": 3}, format="json")
    assert WritingTask.objects.filter(study=study, state=S.OPEN).count() == 6


@pytest.mark.parametrize(
    ("given", "status", "pointer"),
    [({"styles": ["sonnet"]}, 422, "#/styles"), ({"slots": "2"}, 400, "#/slots"), ({"slot": 2}, 400, "#/slot")],
)
def test_what_a_plan_cannot_be_is_refused_and_changes_nothing(
    study: Study, client: APIClient, given: dict[str, Any], status: int, pointer: str
) -> None:
    before = client.post(at(study)).json()
    answer = client.patch(at(study), given, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)
    assert client.get(at(study)).json() == before


@pytest.mark.extended
def test_a_change_of_what_somebody_else_changed_meanwhile_is_refused(study: Study, client: APIClient) -> None:
    client.post(at(study))
    seen = client.get(at(study))["ETag"]
    assert client.patch(at(study), {"pay": 1}, format="json", headers={"If-Match": seen}).status_code == 200
    assert client.patch(at(study), {"pay": 2}, format="json", headers={"If-Match": seen}).status_code == 412
    assert WritingPlan.objects.get().pay == 1
    for step, given in (
        ("plan/instructions/", {"text": "Write well."}),
        ("plan/consent/", {"text": "All is recorded.", "text_licence": "CC0-1.0"}),
        ("plan/questions/exit/", {"questions": []}),
        ("plan/styles/essay/", {"label": "Essay", "instructions": "Argue."}),
    ):
        address = at(study, step)
        seen = client.get(address)["ETag"]
        done = client.put(address, given, format="json", headers={"If-Match": seen})
        assert (done.status_code, done["ETag"]) == (200, client.get(address)["ETag"]), step
        assert client.put(address, given, format="json", headers={"If-Match": seen}).status_code == 412, step


def test_what_writers_are_told_is_read_and_changed(study: Study, client: APIClient) -> None:
    client.post(at(study))
    told = client.put(at(study, "plan/instructions/"), {"text": "Write *well*."}, format="json").json()
    assert told == {"text": "Write *well*.", "version": 2}
    consent = {"text": "All is recorded.", "text_licence": "CC0-1.0", "log_licence": "", "timing_licence": ""}
    done = client.put(at(study, "plan/consent/"), consent, format="json").json()
    assert done == {**consent, "version": 2}
    without = client.put(at(study, "plan/consent/"), {"text": "So."}, format="json")
    assert without.json()["errors"][0]["pointer"] == "#/text_licence"
    assert script(study, Role.VIEWER).get(at(study, "plan/instructions/")).json()["text"] == "Write *well*."


def test_questions_are_asked_otherwise_not_at_all_and_as_usual(study: Study, client: APIClient) -> None:
    client.post(at(study))
    address = at(study, "plan/questions/entry/")
    usual = client.get(address).json()["usual"]
    asked = [{"name": "mood", "text": "How are you?", "kind": "text", "options": [], "required": False}]
    for questions, version in ((asked, 2), ([], None), (usual, 1)):
        put = client.put(address, {"questions": questions}, format="json").json()
        assert (put["questions"], put["version"]) == (questions, version)
    nul = {"name": "a", "text": "A?", "kind": "choice", "options": [{"value": "\0", "label": "x"}] * 2}
    for wrong in ([*asked, *asked], [nul]):
        answer = client.put(address, {"questions": wrong}, format="json")
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/questions"), wrong
    assert client.get(address).json()["questions"] == usual
    assert client.get(at(study, "plan/questions/meanwhile/")).status_code == 404


def test_a_style_is_made_and_worded_anew(study: Study, client: APIClient) -> None:
    client.post(at(study))
    styles, address = at(study, "plan/styles/"), at(study, "plan/styles/letter/")
    given = {"label": "Letter", "instructions": "Dear reader."}
    assert [client.get(address).status_code, client.put(address, given, format="json").status_code] == [404, 404]
    for name, status in (("letter", 201), ("letter", 409), ("My-Style", 422)):
        assert client.post(styles, {**given, "name": name}, format="json").status_code == status
    anew = client.put(address, {**given, "target_words": 120}, format="json").json()
    assert (anew["version"], anew["target_words"]) == (2, 120)
    listed = [row["name"] for row in client.get(styles).json()["results"]]
    assert listed == client.get(at(study)).json()["styles"] == ["bullet", "essay", "news", "letter"]


def test_progress_says_what_the_page_says_and_names_nobody(study: Study, client: APIClient) -> None:
    world = open_plan.world(topics=2, pay=250)
    task = world.claim(world.writer())
    open_plan.hand_in(task)
    found = script(world.study, Role.VIEWER).get(at(world.study, "")).json()
    assert (found["whole"]["asked"], found["whole"]["missing"], found["waiting"]) == (2, 1, 1)
    assert found["styles"][0]["counts"]["SUBMITTED"] == 1
    assert found["spending"]["to_come"] >= 250
    assert task.participant is not None
    assert task.participant.external_id not in str(found)
    assert client.get(at(study, "")).json()["wage"] is None


@pytest.mark.extended
def test_writers_are_listed_and_topped_up_once(study: Study) -> None:
    reviewer, client = script(study, Role.REVIEWER), script(study)
    task = submitted(study)  # 21 seconds: a good wage, whatever it pays
    reviewer.post(f"/api/v1/studies/{study.slug}/review/{task.external_id}/accept/")
    WritingTask.objects.filter(pk=task.pk).update(active_seconds=3600)
    client.post(at(study))
    client.patch(at(study), {"wage_floor": 1000}, format="json")
    (row,) = client.get(at(study, "writers/")).json()["results"]
    pseudonym = task.participant.external_id
    assert (row["participant"], row["earned"], row["wage"], row["is_below"]) == (pseudonym, 250, 250.0, True)
    assert (row["topping"], row["counts"]["ACCEPTED"], row["handed_in"]) == (750, 1, 1)
    assert AccessLogEntry.objects.filter(content=AuditedContent.PEOPLE).exists()
    for owed in (750, 0):
        assert client.post(at(study, f"writers/{pseudonym}/top-up/")).json() == {"owed": owed}
    assert client.get(at(study, "writers/")).json()["results"][0]["earned"] == 1000
    assert client.post(at(study, "writers/nobody/top-up/")).status_code == 404

"""What models answered when they were asked to write, by scripts: as on the page of their run."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from crowdrag.jobs.models import Run
from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import (
    NOW,
    MembershipFactory,
    ParticipantFactory,
    ResponseFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.enums import AnswerOutcome, Origin
from writing.models import ModelAnswer

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return StudyFactory(slug="mine")


@pytest.fixture
def run(study: Study) -> Run:
    """A run in which a model wrote an essay and refused another, and wrote too much in another style."""
    made: Run = Run.objects.create(study=study, kind="write.model", code_version="1", created_at=NOW)
    writer = ParticipantFactory(study=study, kind=ParticipantKind.MODEL, external_id="m-1/abc")
    first, second = (TopicFactory(study=study, external_id=name) for name in ("t0", "t1"))
    essay, bullet = (StyleFactory(study=study, name=name) for name in ("essay", "bullet"))
    response = ResponseFactory(topic=first, style=essay, participant=writer, origin=Origin.MODEL, external_id="r-0")
    for topic, style, outcome, text in (
        (second, essay, AnswerOutcome.REFUSED, "I would rather not."),
        (first, bullet, AnswerOutcome.OVERLONG, "Much too much."),
        (first, essay, AnswerOutcome.WRITTEN, response.text),
    ):
        ModelAnswer.objects.create(
            run=made, participant=writer, topic=topic, style=style, outcome=outcome, text=text,
            words=len(text.split()), answered_at=NOW, response=response if outcome == AnswerOutcome.WRITTEN else None,
        )  # fmt: skip
    return made


@pytest.fixture
def client(study: Study) -> APIClient:
    return script(study, Role.EDITOR)


def script(study: Study, role: Role) -> APIClient:
    return by_token(MembershipFactory(study=study, role=role).user)


def at(run: Run, study: str = "mine") -> str:
    return f"/api/v1/studies/{study}/writing/models/runs/{run.key}/answers/"


def rows(client: APIClient, run: Run, **filters: Any) -> list[dict[str, Any]]:
    answer = client.get(at(run), filters)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_each_answer_is_shown_with_what_became_of_it(run: Run, client: APIClient) -> None:
    shown = [(row["topic"], row["style"], row["outcome"], row["response"]) for row in rows(client, run)]
    assert shown == [
        ("t0", "essay", "WRITTEN", "r-0"),
        ("t0", "bullet", "OVERLONG", None),
        ("t1", "essay", "REFUSED", None),
    ]
    assert (rows(client, run)[2]["text"], rows(client, run)[2]["words"]) == ("I would rather not.", 4)


def test_they_are_filtered_and_what_is_no_filter_is_refused(run: Run, client: APIClient) -> None:
    for filters, expected in (
        ({"outcome": "REFUSED"}, ["t1"]),
        ({"topic": "t0"}, ["t0", "t0"]),
        ({"style": "bullet"}, ["t0"]),
        ({"style": "sonnet"}, []),
    ):
        assert [row["topic"] for row in rows(client, run, **filters)] == expected, filters
    for given, parameter in (({"outcome": "GOOD"}, "outcome"), ({"outcom": "WRITTEN"}, "outcom")):
        answer = client.get(at(run), given)
        assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (400, parameter)


def test_a_run_of_another_study_or_in_which_nobody_wrote_has_none(study: Study, run: Run, client: APIClient) -> None:
    assert script(StudyFactory(slug="other"), Role.OWNER).get(at(run, "other")).status_code == 404
    other = Run.objects.create(study=study, kind="import.topics", code_version="1", created_at=NOW)
    assert client.get(at(other)).status_code == 404
    fresh = Run.objects.create(study=study, kind="write.model", code_version="1", created_at=NOW)
    assert rows(client, fresh) == []

"""Responses from elsewhere: of systems, models and people, stored with statements and citations."""

import json
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from writing.domain import responses as storing
from writing.domain.imports import responses, sources, topics
from writing.domain.imports.problems import BadInput, Problem, Problems
from writing.enums import Origin
from writing.models import Citation, Response, Statement

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data" / "imports"
NOW = datetime(2026, 2, 3, tzinfo=UTC)
RESPONSES = [json.loads(line) for line in (DATA / "responses.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    made = StudyFactory()
    found = topics.read(sources.of_path(DATA / "topics.jsonl"), Problems())
    topics.store(study=made, topics=found, now=NOW)
    return made


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


def bring_in(study: Study, records: list[Any], tmp_path: Path) -> dict[str, int]:
    path = tmp_path / "responses.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    problems = Problems()
    found = responses.read(sources.of_path(path), problems)
    problems.refuse_any()
    return storing.store(study=study, responses=found, problems=problems, now=NOW)


def refused(study: Study, records: list[Any], tmp_path: Path) -> list[Problem]:
    before = Response.objects.count()
    with pytest.raises(BadInput) as bad:
        bring_in(study, records, tmp_path)
    assert Response.objects.count() == before
    return bad.value.problems


def cited(response: Response) -> list[list[str]]:
    """Return the ids of the passages that each statement cites."""
    return [
        list(
            Citation.objects.filter(statement=statement)
            .order_by("id")
            .values_list("retrieved__passage__external_id", flat=True)
        )
        for statement in response.statements.order_by("position")
    ]


def test_every_shape_comes_in_as_a_response(study: Study, tmp_path: Path) -> None:
    counts = bring_in(study, RESPONSES, tmp_path)

    assert counts == {"responses": 6, "responses_unchanged": 0, "citations_of_no_passage": 2}
    found = {
        (r.participant.kind, r.participant.external_id, r.topic.external_id): (r.origin, r.style.name, r.text, cited(r))
        for r in Response.objects.filter(study=study).with_people()
    }
    system, crowd, model = ParticipantKind.SYSTEM, ParticipantKind.CROWD, ParticipantKind.MODEL
    assert found == {
        (system, "sys-a", "t-1"): (
            Origin.SYSTEM,
            "essay",
            "Days grow short [0]. Trees save water [1, 7].",
            [["d-1"], ["d-2"]],
        ),
        (system, "sys-a", "t-2"): (Origin.SYSTEM, "essay", "In clouds [0]. Nobody knows more.", [["d-3"], []]),
        (system, "sys-b", "t-1"): (Origin.SYSTEM, "essay", "Trees save water [1].", [["d-2"]]),
        (system, "sys-c", "t-2"): (Origin.SYSTEM, "essay", "Days matter [1].", [["d-1"]]),
        (crowd, "author-1", "t-1"): (Origin.HUMAN, "bullet", "- Short days [0]", [["d-1"]]),
        (model, "some-model", "t-1"): (Origin.MODEL, "news", "LEAVES FALL [0]", [["d-1"]]),
    }


def test_statements_are_spans_of_the_text_with_what_closes_them(study: Study, tmp_path: Path) -> None:
    bring_in(study, RESPONSES[:1], tmp_path)

    response = Response.objects.get(study=study)
    spans = [(response.text[s.start : s.end], s.closing) for s in response.statements.order_by("position")]
    assert spans == [("Days grow short", "."), ("Trees save water", ".")]
    assert (response.words, response.dropped_citations) == (6, 1)


def test_the_same_again_changes_nothing(study: Study, tmp_path: Path) -> None:
    bring_in(study, RESPONSES, tmp_path)
    counts = (Response.objects.count(), Statement.objects.count(), Citation.objects.count())

    assert bring_in(study, RESPONSES, tmp_path) == {
        "responses": 0,
        "responses_unchanged": 6,
        "citations_of_no_passage": 0,
    }
    assert (Response.objects.count(), Statement.objects.count(), Citation.objects.count()) == counts


def test_a_response_without_an_id_gets_the_same_one_each_time(study: Study, tmp_path: Path) -> None:
    bring_in(study, RESPONSES, tmp_path)

    found = Response.objects.get(study=study, participant__external_id="sys-b")
    assert found.external_id == responses.response_id(ParticipantKind.SYSTEM, "sys-b", "t-1", "essay")
    assert Response.objects.filter(study=study, external_id="r-1").exists()


def test_another_text_under_the_same_id_is_refused(study: Study, tmp_path: Path) -> None:
    bring_in(study, RESPONSES, tmp_path)

    problems = refused(study, [RESPONSES[0], RESPONSES[4] | {"text": "- Shorter days [0]"}], tmp_path)

    assert [(p.line, p.field, p.message) for p in problems] == [
        (2, "text", "response r-1 is in the study already, with another text")
    ]
    assert "a revision is another response" in problems[0].expected


def test_an_erased_response_does_not_come_back(study: Study, tmp_path: Path) -> None:
    bring_in(study, RESPONSES, tmp_path)
    Response.objects.filter(external_id="r-1").update(text="", erased_at=NOW)

    assert bring_in(study, RESPONSES, tmp_path)["responses_unchanged"] == 6
    assert Response.objects.get(external_id="r-1").text == ""


GOOD = {"topic": "t-1", "run": "sys", "text": "Yes [0]."}


@pytest.mark.parametrize(
    ("records", "place", "message"),
    [
        ([GOOD | {"topic": "t-9"}], (1, "topic"), "there is no topic t-9 in this study or this import"),
        ([GOOD | {"style": "haiku"}], (1, "style"), "there is no style haiku in this study"),
        ([{"topic": "t-1", "text": "x"}], (1, "run"), "is missing"),
        ([{"run": "sys", "text": "x"}], (1, "topic"), "is missing"),
        ([{"topic": "t-1", "run": "sys"}], (1, "text"), "is missing"),
        ([GOOD | {"run": ["sys"]}], (1, "run"), "got ['sys']"),
        ([GOOD, GOOD], (2, "response"), "this response (sys, topic t-1, style essay) is on line 1 already"),
        ([{"topic": "t-1", "run": "s", "statements": [{"citations": [0]}]}], (1, "statements[0].text"), "is missing"),
        (
            [{"topic": "t-1", "run": "s", "references": ["d-1"], "answer": [{"text": "x", "citations": [1]}]}],
            (1, "answer[0].citations"),
            "got 1",
        ),
        ([["t-1", "sys"]], (1, ""), "got ['t-1', 'sys']"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    study: Study, records: list[Any], place: tuple[int, str], message: str, tmp_path: Path
) -> None:
    problems = refused(study, [*records], tmp_path)

    assert [((p.line, p.field), p.message) for p in problems] == [(place, message)]


def test_one_response_is_stored_by_hand(study: Study) -> None:
    first = responses.read(sources.of_path(DATA / "responses.jsonl"), Problems())[0]
    storing.store(study=study, responses=[first], problems=Problems(), now=NOW)
    known = Response.objects.get(study=study)

    made = storing.submit(
        study=study,
        topic=known.topic,
        style=known.style,
        participant=known.participant,
        external_id="by-hand",
        text="Trees save water [1]. And so on",
        now=NOW,
    )

    assert (made.origin, made.words, made.submitted_at) == (Origin.SYSTEM, 6, NOW)
    assert cited(made) == [["d-2"], []]

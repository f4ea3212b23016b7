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
from writing.corpus import responses as storing
from writing.corpus.imports import response_files, sources, topic_files
from writing.corpus.imports.problems import BadInput, Problems
from writing.enums import Origin
from writing.models import Citation, Response, Statement

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[2] / "data" / "imports"
NOW = datetime(2026, 2, 3, tzinfo=UTC)
RESPONSES = [json.loads(line) for line in (DATA / "responses.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    made = StudyFactory()
    found = topic_files.read(sources.of_path(DATA / "topics.jsonl"), Problems())
    topic_files.store(study=made, topics=found, now=NOW)
    return made


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


def bring_in(study: Study, records: list[Any], tmp_path: Path) -> dict[str, int]:
    path = tmp_path / "responses.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    problems = Problems()
    found = response_files.read(sources.of_path(path), problems)
    problems.refuse_any()
    return storing.store(study=study, responses=found, problems=problems, now=NOW)


def cited(response: Response) -> list[list[str]]:
    """Return the ids of the passages that each statement cites."""
    return [
        [citation.retrieved.passage.external_id for citation in statement.citations.order_by("id")]
        for statement in response.statements.order_by("position")
    ]


def test_every_shape_comes_in_as_a_response(study: Study, tmp_path: Path) -> None:
    counts = bring_in(study, RESPONSES, tmp_path)

    assert counts == {"responses": 6, "responses_unchanged": 0, "citations_that_match_no_passage": 2}
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


def test_the_same_again_changes_nothing_under_the_same_ids_and_brings_nothing_erased_back(
    study: Study, tmp_path: Path
) -> None:
    bring_in(study, RESPONSES, tmp_path)
    Response.objects.filter(external_id="r-1").update(text="", erased_at=NOW)
    counts = (Response.objects.count(), Statement.objects.count(), Citation.objects.count())
    again = bring_in(study, RESPONSES, tmp_path)
    assert again == {"responses": 0, "responses_unchanged": 6, "citations_that_match_no_passage": 0}
    assert (Response.objects.count(), Statement.objects.count(), Citation.objects.count()) == counts
    assert Response.objects.get(external_id="r-1").text == ""
    without_id = Response.objects.get(study=study, participant__external_id="sys-b")
    assert without_id.external_id == response_files.response_id(ParticipantKind.SYSTEM, "sys-b", "t-1", "essay")


GOOD = {"topic": "t-1", "run": "sys", "text": "Yes [0]."}
STATEMENTS = {"topic": "t-1", "run": "s", "statements": [{"citations": [0]}]}
ANSWER = {"topic": "t-1", "run": "s", "references": ["d-1"], "answer": [{"text": "x", "citations": [1]}]}


@pytest.mark.parametrize(
    ("records", "place", "named"),
    [
        ([GOOD | {"topic": "t-9"}], (1, "topic"), "t-9"),
        ([GOOD | {"style": "haiku"}], (1, "style"), "haiku"),
        ([{"topic": "t-1", "text": "x"}], (1, "run"), ""),
        ([{"run": "sys", "text": "x"}], (1, "topic"), ""),
        ([{"topic": "t-1", "run": "sys"}], (1, "text"), ""),
        ([GOOD | {"run": ["sys"]}], (1, "run"), "['sys']"),
        ([GOOD, GOOD], (2, "response"), "line 1"),
        ([STATEMENTS], (1, "statements[0].text"), ""),
        ([ANSWER], (1, "answer[0].citations"), "1"),
        ([["t-1", "sys"]], (1, ""), "['t-1', 'sys']"),
        ([*RESPONSES[:1], RESPONSES[4] | {"text": "- Shorter days [0]"}], (2, "text"), "r-1"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    study: Study, records: list[Any], place: tuple[int, str], named: str, tmp_path: Path
) -> None:
    bring_in(study, RESPONSES[4:5], tmp_path)
    with pytest.raises(BadInput) as bad:
        bring_in(study, records, tmp_path)
    [problem] = bad.value.problems
    assert (problem.line, problem.field, named in problem.message) == (*place, True)
    assert Response.objects.count() == 1

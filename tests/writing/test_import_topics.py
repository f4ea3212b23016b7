"""Topics come in once, change by versions, and leave nothing behind when they are wrong."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from writing.domain.imports import sources, topics
from writing.domain.imports.problems import Problems
from writing.models import Passage, RetrievedPassage, Topic

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data" / "imports"
NOW = datetime(2026, 2, 3, tzinfo=UTC)
TOPICS = [json.loads(line) for line in (DATA / "topics.jsonl").read_text().splitlines()]


def bring_in(study: Study, records: list[Any], tmp_path: Path) -> dict[str, int]:
    path = tmp_path / "topics.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(record) for record in records).encode()))
    problems = Problems()
    found = topics.read(sources.of_path(path), problems)
    problems.refuse_any()
    return topics.store(study=study, topics=found, now=NOW)


def wrong(records: list[Any], tmp_path: Path) -> list[tuple[int, str, str]]:
    path = tmp_path / "topics.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    problems = Problems()
    topics.read(sources.of_path(path), problems)
    return [(problem.line, problem.field, problem.message) for problem in problems.found]


def test_topics_come_in_with_ranked_passages(tmp_path: Path) -> None:
    study = StudyFactory()

    assert bring_in(study, TOPICS, tmp_path) == {"topics": 2, "topics_unchanged": 0, "passages": 3}

    topic = Topic.objects.get(study=study, external_id="t-1")
    assert (topic.version, topic.query, topic.narrative) == (1, "why do leaves fall", "Reasons, not dates.")
    fields = ("rank", "score", "passage__external_id", "passage__text", "passage__title", "passage__url")
    assert list(topic.retrieved.order_by("rank").values_list(*fields)) == [
        (0, 2.5, "d-1", "Days grow short.", "Autumn", "https://example.org/1"),
        (1, None, "d-2", "Trees save water.", "", ""),
    ]


def test_the_published_shape_is_read_as_well(tmp_path: Path) -> None:
    study = StudyFactory()
    published = {"topic": "t-1", "query": "q", "references_ids": ["d-9", "d-1"], "references_texts": ["nine", "one"]}

    bring_in(study, [published], tmp_path)

    retrieved = RetrievedPassage.objects.filter(topic__study=study).order_by("rank")
    assert list(retrieved.values_list("rank", "passage__external_id", "passage__text")) == [
        (0, "d-9", "nine"),
        (1, "d-1", "one"),
    ]


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    study = StudyFactory()
    bring_in(study, TOPICS, tmp_path)

    assert bring_in(study, TOPICS, tmp_path) == {"topics": 0, "topics_unchanged": 2, "passages": 0}
    assert (Topic.objects.count(), Passage.objects.count(), RetrievedPassage.objects.count()) == (2, 3, 4)


def test_a_changed_query_is_a_new_version_with_the_same_passages(tmp_path: Path) -> None:
    study = StudyFactory()
    bring_in(study, TOPICS, tmp_path)
    changed = [TOPICS[0] | {"query": "why do leaves turn red"}, TOPICS[1]]

    assert bring_in(study, changed, tmp_path) == {"topics": 1, "topics_unchanged": 1, "passages": 0}

    versions = Topic.objects.filter(study=study, external_id="t-1").order_by("version")
    assert [(topic.version, topic.query) for topic in versions] == [
        (1, "why do leaves fall"),
        (2, "why do leaves turn red"),
    ]
    first, second = (list(topic.retrieved.order_by("rank").values_list("passage", flat=True)) for topic in versions)
    assert first == second
    assert Topic.objects.current().get(study=study, external_id="t-1").version == 2


def test_a_changed_passage_is_a_new_version_in_the_topics_that_bring_it(tmp_path: Path) -> None:
    study = StudyFactory()
    bring_in(study, TOPICS, tmp_path)
    changed = json.loads(json.dumps(TOPICS[0]))
    changed["passages"][0]["text"] = "Days grow very short."

    assert bring_in(study, [changed], tmp_path) == {"topics": 1, "topics_unchanged": 0, "passages": 1}

    def text(topic: str) -> str:
        latest = Topic.objects.current().get(study=study, external_id=topic)
        return latest.retrieved.get(passage__external_id="d-1").passage.text

    assert (text("t-1"), text("t-2")) == ("Days grow very short.", "Days grow short.")
    # The old text again is the old passage again.
    assert bring_in(study, TOPICS[:1], tmp_path) == {"topics": 1, "topics_unchanged": 0, "passages": 0}
    assert text("t-1") == "Days grow short."


def test_two_studies_hold_the_same_topics(tmp_path: Path) -> None:
    bring_in(StudyFactory(), TOPICS, tmp_path)

    assert bring_in(StudyFactory(), TOPICS, tmp_path)["topics"] == 2


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([TOPICS[0], TOPICS[0]], (2, "topic", "topic t-1 is on line 1 already")),
        (
            [TOPICS[0] | {"passages": TOPICS[0]["passages"] + TOPICS[0]["passages"][:1]}],
            (1, "passages[2]", "passage d-1 is in this topic's list already"),
        ),
        (
            [TOPICS[0], TOPICS[1] | {"passages": [{"id": "d-1", "text": "Other."}]}],
            (2, "passages[0]", "passage d-1 has another text than on line 1"),
        ),
        ([TOPICS[0] | {"passages": []}], (1, "passages", "has 0")),
        ([TOPICS[0] | {"passages": [{"id": "d-1"}]}], (1, "passages[0].text", "is missing")),
        ([TOPICS[0] | {"passages": [{"id": "d-1", "text": " "}]}], (1, "passages[0].text", "is empty")),
        ([TOPICS[0] | {"passages": [{"id": "d-1", "text": "x", "score": "9"}]}], (1, "passages[0].score", "got '9'")),
        ([TOPICS[0] | {"query": None}], (1, "query", "got None")),
        (
            [{"topic": "t-1", "query": "q", "references_ids": ["a"], "references_texts": []}],
            (1, "references_texts", "has 0"),
        ),
        ([{"topic": "t-1", "query": "q", "references_ids": ["a"]}], (1, "references_texts", "is missing")),
    ],
)
def test_what_is_wrong_is_named(records: list[Any], expected: tuple[int, str, str], tmp_path: Path) -> None:
    assert wrong(records, tmp_path) == [expected]


def test_ids_that_browsers_rewrite_are_refused_where_pages_have_them_in_their_address(tmp_path: Path) -> None:
    found = wrong([{**TOPICS[0], "topic": name} for name in ("clueweb/1", "a/../b", "a/")], tmp_path)
    assert [(line, field) for line, field, _message in found] == [(2, "topic"), (3, "topic")]

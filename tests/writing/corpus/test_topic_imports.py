"""Topics come in once, change by versions, and leave nothing behind when they are wrong."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from writing.corpus.imports import sources, topic_files
from writing.corpus.imports.problems import BadInput, Problems
from writing.models import Passage, RetrievedPassage, Topic

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[2] / "data" / "imports"
NOW = datetime(2026, 2, 3, tzinfo=UTC)
TOPICS = [json.loads(line) for line in (DATA / "topics.jsonl").read_text().splitlines()]
PUBLISHED = {"topic": "t-1", "query": "q", "references_ids": ["d-9", "d-1"], "references_texts": ["nine", "one"]}


def bring_in(study: Study, records: list[Any], tmp_path: Path) -> dict[str, int]:
    path = tmp_path / "topics.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(record) for record in records).encode()))
    problems = Problems()
    found = topic_files.read(sources.of_path(path), problems)
    problems.refuse_any()
    return topic_files.store(study=study, topics=found, now=NOW)


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
    bring_in(study, [PUBLISHED], tmp_path)

    retrieved = RetrievedPassage.objects.filter(topic__study=study).order_by("rank")
    assert list(retrieved.values_list("rank", "passage__external_id", "passage__text")) == [
        (0, "d-9", "nine"),
        (1, "d-1", "one"),
    ]


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    study, other = StudyFactory(), StudyFactory()
    bring_in(study, TOPICS, tmp_path)
    assert bring_in(study, TOPICS, tmp_path) == {"topics": 0, "topics_unchanged": 2, "passages": 0}
    assert (Topic.objects.count(), Passage.objects.count(), RetrievedPassage.objects.count()) == (2, 3, 4)
    assert bring_in(other, TOPICS, tmp_path)["topics"] == 2, "another study may hold the same topics"


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


FIRST, SECOND = TOPICS


@pytest.mark.parametrize(
    ("records", "place", "named"),
    [
        ([FIRST, FIRST], (2, "topic"), ("t-1", "line 1")),
        ([FIRST | {"passages": FIRST["passages"] + FIRST["passages"][:1]}], (1, "passages[2]"), ("d-1",)),
        ([FIRST, SECOND | {"passages": [{"id": "d-1", "text": "Other."}]}], (2, "passages[0]"), ("d-1", "line 1")),
        ([FIRST | {"passages": []}], (1, "passages"), ("0",)),
        ([FIRST | {"passages": [{"id": "d-1"}]}], (1, "passages[0].text"), ()),
        ([FIRST | {"passages": [{"id": "d-1", "text": " "}]}], (1, "passages[0].text"), ()),
        ([FIRST | {"passages": [{"id": "d-1", "text": "x", "score": "9"}]}], (1, "passages[0].score"), ("'9'",)),
        ([FIRST | {"query": None}], (1, "query"), ("None",)),
        ([PUBLISHED | {"references_ids": ["a"], "references_texts": []}], (1, "references_texts"), ("0",)),
        ([{"topic": "t-1", "query": "q", "references_ids": ["a"]}], (1, "references_texts"), ()),
        # Ids that browsers rewrite are refused where pages have them in their address.
        ([FIRST | {"topic": "clueweb/1"}, FIRST | {"topic": "a/../b"}], (2, "topic"), ()),
        ([FIRST | {"topic": "a/"}], (1, "topic"), ()),
    ],
)
def test_what_is_wrong_is_named(
    records: list[Any], place: tuple[int, str], named: tuple[str, ...], tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as bad:
        bring_in(StudyFactory(), records, tmp_path)
    [problem] = bad.value.problems
    assert (problem.line, problem.field) == place
    assert [each for each in named if each not in problem.message] == []
    assert not Topic.objects.exists()

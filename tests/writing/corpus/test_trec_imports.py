"""TREC's files: topics in three shapes, a run, and the passages that it names."""

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.factories import StudyFactory
from writing.corpus.imports import sources, topic_files, trec
from writing.corpus.imports.problems import BadInput, Problems
from writing.models import RetrievedPassage

DATA = Path(__file__).parents[2] / "data" / "imports"
NOW = datetime(2026, 2, 3, tzinfo=UTC)


def read(tmp_path: Path, **changed: str | bytes) -> trec.Collected:
    """Read the sample's files, some of them with other content."""
    members = {}
    for role, name in (("topics", "topics.tsv"), ("run", "run.txt"), ("passages", "passages.jsonl")):
        path = DATA / name
        if role in changed:
            content = changed[role]
            path = tmp_path / name
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        members[role] = sources.of_path(path)
    return trec.read(**members, problems=Problems(), depth=changed.get("depth", 2))  # type: ignore[arg-type]


def test_topics_get_the_best_passages_of_the_run_in_rank_order(tmp_path: Path) -> None:
    collected = read(tmp_path)

    found = {topic.external_id: [(p.external_id, p.score) for p in topic.passages] for topic in collected.topics}
    assert found == {"t-1": [("d-1", 2.5), ("d-2", 1.5)], "t-2": [("d-3", 9.0)]}
    assert collected.topics[0].passages[0].title == "Autumn"
    assert collected.without_passages == ["t-3"]
    assert collected.tag == "my-run"


@pytest.mark.django_db
def test_they_are_stored_like_any_topics(tmp_path: Path) -> None:
    study = StudyFactory()
    counts = topic_files.store(study=study, topics=read(tmp_path).topics, now=NOW)

    assert counts == {"topics": 2, "topics_unchanged": 0, "passages": 3}
    stored = RetrievedPassage.objects.filter(topic__study=study).order_by("topic", "rank")
    rows = [("d-1", 0, 2.5), ("d-2", 1, 1.5), ("d-3", 0, 9.0)]
    assert list(stored.values_list("passage__external_id", "rank", "score")) == rows


def test_classic_topics_and_json_are_read(tmp_path: Path) -> None:
    queries = trec.read_queries(sources.of_path(DATA / "topics.trec"), Problems())
    assert [(q.external_id, q.query, q.narrative, q.line) for q in queries] == [
        ("t-1", "why do leaves fall", "What makes leaves fall.\n\nReasons, not dates.", 1),
        ("t-2", "how is snow made", "", 13),
    ]
    path = tmp_path / "topics.jsonl"
    path.write_text('{"id": 1, "title": "one"}\n{"qid": "t-2", "query": "two", "narrative": "n"}\n')
    queries = trec.read_queries(sources.of_path(path), Problems())
    assert [(q.external_id, q.query, q.narrative) for q in queries] == [("1", "one", ""), ("t-2", "two", "n")]


def test_passages_that_nobody_named_are_not_kept(tmp_path: Path) -> None:
    many = "".join(f'{{"id": "other-{n}", "text": 5}}\n' for n in range(1000))
    content = gzip.compress((many + (DATA / "passages.jsonl").read_text()).encode())

    assert len(read(tmp_path, passages=content).topics) == 2


RUN = "t-1 Q0 d-1 1 2.5 my-run\n"


@pytest.mark.parametrize(
    ("changed", "place", "named"),
    [
        ({"topics": "t-1 no tab"}, ("topics.tsv", 1, ""), "t-1 no tab"),
        ({"topics": "t-1\t \n"}, ("topics.tsv", 1, "query"), ""),
        ({"topics": "t-1\ta\nt-1\tb\nt-2\tc"}, ("topics.tsv", 2, "id"), "line 1"),
        ({"topics": "\n"}, ("topics.tsv", 0, ""), ""),
        ({"topics": "<top>\n<num> t-1\n</top>\n"}, ("topics.tsv", 1, "query"), ""),
        ({"topics": '{"id": "t-1"}\n'}, ("topics.tsv", 1, "query"), ""),
        ({"run": "t-1 Q0 d-1 1 2.5\n"}, ("run.txt", 1, ""), "5"),
        ({"run": "t-1 Q0 d-1 first 2.5 r\n"}, ("run.txt", 1, "rank"), "'first'"),
        ({"run": "t-1 Q0 d-1 1 nan r\n"}, ("run.txt", 1, "score"), "'nan'"),
        ({"run": "t-1 Q0 d-1 1 high r\n"}, ("run.txt", 1, "score"), "'high'"),
        ({"run": RUN + "t-9 Q0 d-1 1 1 my-run\n"}, ("run.txt", 2, "topic"), "t-9"),
        ({"run": RUN + "t-1 Q0 d-1 2 1 my-run\n"}, ("run.txt", 2, "docid"), "d-1"),
        ({"run": RUN + "t-1 Q0 d-2 2 1 other\n"}, ("run.txt", 2, "tag"), "my-run"),
        ({"run": "t-1 Q0 d-8 1 2.5 my-run\n"}, ("run.txt", 1, "docid"), "passages.jsonl"),
        ({"passages": '{"docid": "d-1"}\n'}, ("passages.jsonl", 1, "text"), ""),
        (
            {"run": RUN, "passages": '{"docid": "d-1", "text": "a"}\n{"docid": "d-1", "text": "b"}\n'},
            ("passages.jsonl", 2, "text"),
            "d-1",
        ),
    ],
)
def test_what_is_wrong_is_named(
    changed: dict[str, Any], place: tuple[str, int, str], named: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, **changed)
    first = refused.value.problems[0]
    assert (first.file, first.line, first.field, named in first.message) == (*place, True)


def test_equal_ranks_go_by_score_and_then_by_line(tmp_path: Path) -> None:
    run = "t-1 Q0 d-1 0 1 r\nt-1 Q0 d-2 0 3 r\nt-1 Q0 d-4 0 3 r\nt-2 Q0 d-3 -1 1 r\n"

    collected = read(tmp_path, run=run, depth=3)  # type: ignore[arg-type]

    assert [p.external_id for p in collected.topics[0].passages] == ["d-2", "d-4", "d-1"]

"""Answers of files become topics with passages and responses of a study; what cannot be used is set aside."""

import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from writing.corpus.formats.study_answers import with_ranks
from writing.models import Citation, Passage, Response, Topic

pytestmark = pytest.mark.django_db


def command(*arguments: object) -> dict[str, Any]:
    """Run the import and return its result."""
    out = StringIO()
    call_command("import", "answers", *map(str, arguments), "--study", "own", "--json", stdout=out, stderr=StringIO())
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


@pytest.fixture
def study() -> Study:
    return StudyFactory(slug="own")


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records))
    return path


def trec(topic: str, text: str = "They work.", **more: Any) -> dict[str, Any]:
    metadata = {"team_id": "team", "run_id": "sys", "narrative_id": topic, "narrative": f"Query {topic}?"}
    return {"metadata": metadata, "references": ["d2", "d1"], "answer": [{"text": text, "citations": [0]}]} | more


def alce(query: str, output: str, *texts: str) -> dict[str, Any]:
    return {"question": query, "docs": [{"title": text, "text": text} for text in texts], "output": output}


def cited(response: Response) -> list[tuple[str, list[str]]]:
    """Return each statement with the texts of the passages that it cites."""
    rows = []
    for statement in response.statements.order_by("position"):
        passages = [
            citation.retrieved.passage for citation in Citation.objects.filter(statement=statement).order_by("id")
        ]
        rows.append((response.text[statement.start : statement.end], [passage.text for passage in passages]))
    return rows


def test_answers_topics_and_passages_of_several_files(study: Study, tmp_path: Path) -> None:
    lines(tmp_path / "run.jsonl", trec("1"), trec("2", "No.", answer=[{"text": "No.", "citations": []}]))
    lines(tmp_path / "topics.jsonl", {"request_id": "1", "title": "Do they work?", "background": "In the cold."})
    lines(tmp_path / "passages.jsonl", {"id": "d1", "text": "One."}, {"docid": "d2", "segment": "Two."})

    result = command(tmp_path)

    assert result["summary"]["topics"] == 2
    assert result["summary"]["passages"] == 2
    assert result["summary"]["responses"] == 2
    topic = Topic.objects.get(study=study, external_id="1")
    assert (topic.query, topic.narrative) == ("Do they work?", "In the cold.")
    assert cited(Response.objects.get(topic=topic)) == [("They work", ["Two."])]
    assert Response.objects.get(topic__external_id="2").topic.query == "Query 2?"


def test_the_same_again_adds_nothing_and_a_dry_run_stores_nothing(study: Study, tmp_path: Path) -> None:
    path = lines(tmp_path / "sys.jsonl", {"user_input": "Why?", "retrieved_contexts": ["A.", "B."], "response": "So."})

    dry = command(path, "--dry-run")
    assert dry["summary"]["responses"] == 1
    assert not Topic.objects.filter(study=study).exists()
    assert "stored_at" not in Run.objects.get().parameters

    assert command(path)["summary"] == dry["summary"]
    again = command(path)["summary"]
    assert (again["topics_unchanged"], again["responses_unchanged"]) == (1, 1)
    assert not {"topics", "responses", "passages"} & again.keys()
    assert Passage.objects.filter(study=study).count() == 2
    assert Response.objects.get().participant.external_id == "sys"


def test_a_dry_run_makes_no_study(tmp_path: Path) -> None:
    path = lines(tmp_path / "run.jsonl", trec("1"))
    assert command(path, "--dry-run")["is_new_study"] is False
    assert not Study.objects.filter(slug="own").exists()


def test_good_rows_come_in_and_broken_ones_are_set_aside(study: Study, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "run.jsonl",
        trec("1"),
        "{broken",
        trec("1", "Again."),
        {**trec("2"), "answer": "text"},
        {**trec("3"), "metadata": {"run_id": "sys"}},
        trec("4", answer=[{"text": "Yes.", "citations": [0, 7]}]),
        "[1]",
    )

    result = command(path)

    assert result["summary"]["responses"] == 2
    assert result["summary"]["set_aside"] == {"run.jsonl": 5}
    assert result["summary"]["incomplete"] == {"run.jsonl": 1}
    assert {(fault["line"], fault["field"]) for fault in result["problems"]} == {
        (2, ""), (3, "topic"), (4, "answer"), (5, "topic_id"), (6, "answer[0].citations"), (7, ""),
    }  # fmt: skip
    with pytest.raises(CommandError):
        command(path, "--strict")


def test_markers_count_the_passages_of_the_topic(study: Study, tmp_path: Path) -> None:
    for system, texts in (("first", ("A.", "B.")), ("second", ("B.", "C."))):
        entry = alce("Why?", "So [1][2]. And [2]! Never [9].", *texts)
        (tmp_path / f"{system}.json").write_text(json.dumps({"args": {"model": "m"}, "data": [entry]}, indent=4))

    result = command(tmp_path / "first.json", tmp_path / "second.json")

    assert result["summary"]["formats"] == {"first.json": "alce", "second.json": "alce"}
    assert result["summary"]["citations_that_match_no_passage"] == 2
    [first, second] = Response.objects.order_by("participant__external_id")
    assert first.text == "So [0, 1]. And [1]! Never ."
    assert second.text == "So [1, 2]. And [2]! Never ."
    assert cited(second)[:2] == [("So", ["B.", "C."]), ("And", ["C."])]


def test_a_topic_of_the_study_keeps_its_passages(study: Study, tmp_path: Path) -> None:
    command(lines(tmp_path / "a.json", alce("Why?", "So [1].", "A.")))

    summary = command(lines(tmp_path / "b.json", alce("Why?", "So [1], and [2].", "B.", "A.")))["summary"]

    assert summary["passages_not_added"] == 1
    assert summary["citations_that_match_no_passage"] == 1
    assert Topic.objects.filter(study=study).count() == 1
    assert cited(Response.objects.get(participant__external_id="b"))[-1][1] == ["A."]


def test_columns_can_be_named_and_answers_may_count_from_one(study: Study, tmp_path: Path) -> None:
    rows = [{"Frage": "Why?", "Antwort": "So [1].", "contexts": ["A.", "B."], "note": 1}]
    path = lines(tmp_path / "rows.jsonl", *rows)
    with pytest.raises(CommandError):
        command(path)

    command(path, "--column-names", "query=Frage,answer=Antwort", "--system", "mine", "--from-one", "--style", "news")

    response = Response.objects.get()
    assert (response.participant.external_id, response.style.name) == ("mine", "news")
    assert cited(response) == [("So", ["A."])]


def test_an_archive_comes_in_without_leaving_its_folder(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("../../sys.jsonl", json.dumps(trec("1")))
        zipped.writestr("manifest.json", "{}")
        zipped.writestr("__MACOSX/._sys.jsonl", "x")

    assert command(path)["summary"]["formats"] == {"../../sys.jsonl": "trec-rag25"}
    assert [each.name for each in tmp_path.iterdir()] == ["all.zip"]


def test_files_without_answers_are_refused_with_advice(study: Study, tmp_path: Path) -> None:
    for name, content in (
        ("judged.qrels", "1 0 d1 2\n1 0 d2 0\n"),
        ("topics.jsonl", '{"request_id": "1", "title": "Why?"}\n'),
        ("notes.txt", "nothing of this kind\n"),
        ("empty.jsonl", ""),
        ("utf-16.jsonl", json.dumps(trec("1")).encode("utf-16")),
    ):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(CommandError):
            command(path)
        [problem, *_] = Run.objects.latest("id").problems
        assert problem["message"]
        assert problem["expected"]
    assert not Response.objects.exists()


def test_markers_are_renumbered() -> None:
    ranks = {"a": 3, "b": 0}
    assert with_ranks("x [0, 1]. y [1] [a]", ["a", "b"], 0, ranks) == ("x [3, 0]. y [0] [a]", 0)
    assert with_ranks("x [0]. y [2-3]", ["a", "b"], 1, ranks) == ("x . y [0]", 2)
    assert with_ranks("x [1].", [], 1, ranks) == ("x [0].", 0)
    assert with_ranks("x [1].", ["c"], 1, ranks) == ("x .", 1)

"""A corpus beside a file of questions: each gets the documents that were found, and the run asks with these."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.experiments import question_sets, services
from analysis.rag.collections import qa
from analysis.rag.protocols import Document, Query
from analysis.rag.retrieval.bm25 import BM25
from analysis.rag.retrieval.search import DocumentList
from crowdrag.jobs.models import Run, Upload

pytestmark = pytest.mark.django_db
DOCUMENTS = {
    "tide": "The tide follows the moon, twice a day.",
    "moon": "The moon is far away, and has no air.",
    "cat": "A cat sleeps by day.",
    "sea": "Harbours far up the sea see the greatest tide of all.",
}
QUESTIONS = [("q1", "Why is there a tide?", ["moon"]), ("q2", "Who sleeps by day?", ["a cat"]), ("q3", "Xyzzy?", [])]


def lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def corpus(tmp_path):
    return lines(tmp_path / "docs.jsonl", [{"id": key, "contents": text} for key, text in DOCUMENTS.items()])


@pytest.fixture
def questions(tmp_path):
    rows = [{"id": key, "question": asked, "golden_answers": gold} for key, asked, gold in QUESTIONS]
    return lines(tmp_path / "asked.jsonl", rows)


def read(upload: Upload) -> dict[str, Query]:
    return {query.id: query for query in qa.read(upload.file.path).queries}


def test_each_question_gets_the_best_documents(study, questions, corpus):
    found = read(services.with_candidates(study=study, questions=questions, corpus=corpus, n=2))
    assert {key: [each.id for each in query.documents] for key, query in found.items()} == {
        "q1": ["tide", "sea"], "q2": ["cat", "tide"], "q3": [],
    }  # fmt: skip
    # The scores are those of the retriever over the same documents.
    listed = [Document(key, text) for key, text in DOCUMENTS.items()]
    scores = BM25().search(["Why is there a tide?"], DocumentList(listed), 2).scores[0]
    assert [each.score for each in found["q1"].documents] == pytest.approx(scores.tolist())
    assert (found["q1"].question, found["q1"].answers) == ("Why is there a tide?", ("moon",))


def test_documents_that_are_named_are_looked_up(study, corpus, tmp_path):
    rows = [{"id": "q", "question": "What?", "golden_answers": ["x"], "documents": ["moon", "cat"], "metric": "em"}]
    named = lines(tmp_path / "named.jsonl", rows)
    query = read(services.with_candidates(study=study, questions=named, corpus=corpus, n=0))["q"]
    assert ([each.text for each in query.documents], query.metric) == ([DOCUMENTS["moon"], DOCUMENTS["cat"]], "em")


def test_the_same_once_more_is_the_same_file(study, questions, corpus):
    first, again, other = (
        services.with_candidates(study=study, questions=questions, corpus=corpus, n=n) for n in (2, 2, 1)
    )
    assert first == again != other
    assert first.name == "asked-2-by-bm25-of-docs.jsonl.gz"


@pytest.mark.usefixtures("no_broker")
def test_a_run_asks_with_what_was_found(experiment, study, endpoint, tmp_path):
    # The server answers what stands after "ok:".
    lines(tmp_path / "docs.jsonl", [{"id": key, "contents": f"ok:{key} {text}"} for key, text in DOCUMENTS.items()])
    rows = [{"id": key, "question": f"ok:none {asked}", "golden_answers": ["tide"]} for key, asked, _gold in QUESTIONS]
    lines(tmp_path / "asked.jsonl", rows[:2])
    config = tmp_path / "run.toml"
    config.write_text(
        f'study = "{study.slug}"\nfile = "asked.jsonl"\nformat = "qa"\ncorpus = "docs.jsonl"\ncandidates = 1\n'
        f'generator = "endpoint:{endpoint.name}"\n'
    )
    call_command("experiment", "planted", str(config))
    run = Run.objects.get(kind="experiment.planted")
    assert run.parameters["collection"]["name"] == "asked-1-by-bm25-of-docs.jsonl.gz"
    asked = question_sets.of_run(run).queries
    assert [[each.id for each in query.documents] for query in asked] == [["tide"], ["cat"]]
    assert run.state == "DONE"


REFUSED = [
    ({"format": "bank"}, "--format"),
    ({"corpus": "none.jsonl"}, "none.jsonl"),
    ({"candidates": 1001}, "1000"),
    ({"searcher": "given"}, "given"),
    ({"searcher": "dense:anything"}, "anything"),
    ({"corpus": "asked.jsonl"}, "asked.jsonl, line 1"),
]


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(("options", "named"), REFUSED)
def test_what_cannot_be_searched_is_refused(study, questions, endpoint, tmp_path, options, named):
    given = {"file": questions, "format": "qa", "corpus": "docs.jsonl", "generator": f"endpoint:{endpoint.name}"}
    given |= options
    with pytest.raises(CommandError, match=named):
        call_command("experiment", "fair", study=study.slug, **given | {"corpus": tmp_path / given["corpus"]})
    assert not Run.objects.exists()
    assert not Upload.objects.exists()

"""Indexes of corpora as runs: built once by the command, resumed, found by contents, used by every experiment."""

import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from analysis.experiments import index_runs, retrievers, services
from analysis.rag.collections import qa
from analysis.rag.collections.corpus import Corpus
from analysis.rag.retrieval import bm25
from crowdrag.jobs import lifecycle, worker
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from tests.analysis.experiments.test_pages import member_of
from tests.factories import StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker")]
SLOW = pytest.mark.timeout(1800)
DOCUMENTS = {
    "tide": "The tide follows the moon, twice a day.",
    "moon": "The moon is far away, and has no air.",
    "cat": "A cat sleeps by day.",
    "sea": "Harbours far up the sea see the greatest tide of all.",
}


def lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(autouse=True)
def index_root(settings, tmp_path):
    settings.INDEX_ROOT = tmp_path / "indexes"
    return settings.INDEX_ROOT


@pytest.fixture
def corpus(tmp_path):
    return lines(tmp_path / "docs.jsonl", [{"id": key, "contents": text} for key, text in DOCUMENTS.items()])


@pytest.fixture
def questions(tmp_path):
    rows = [{"id": "q1", "question": "Why is there a tide?", "golden_answers": ["moon"]},
            {"id": "q2", "question": "Who sleeps by day?", "golden_answers": ["a cat"]}]  # fmt: skip
    return lines(tmp_path / "asked.jsonl", rows)


def printed(capsys, *arguments: object, **options: object) -> dict:
    call_command("index", *arguments, json=True, **options)
    return json.loads(capsys.readouterr().out)


def found(study, questions: Path, corpus: Path, searcher: str = "bm25") -> dict[str, list[str]]:
    upload = services.with_candidates(study=study, questions=questions, corpus=corpus, n=2, searcher=searcher)
    return {query.id: [each.id for each in query.documents] for query in qa.read(upload.file.path).queries}


def test_the_command_builds_an_index_once(study, corpus, capsys):
    built = printed(capsys, corpus, study=study.slug)
    run = Run.objects.get(kind=index_runs.KIND)
    assert (run.state, run.units.count(), run.inputs_digest) == ("DONE", 3, built["sha256"])
    assert (built["documents"], built["searcher"], built["run"]) == (4, "bm25", str(run.key))
    assert run.summary["index"] == built["index"]
    assert printed(capsys, corpus, study=study.slug) == built
    assert Run.objects.count() == 1
    assert printed(capsys, list=True) == {"indexes": [built]}
    assert printed(capsys, delete=built["index"]) == built
    assert printed(capsys, list=True) == {"indexes": []}
    with pytest.raises(CommandError):
        call_command("index", delete=built["index"])


def test_experiments_use_the_index(study, corpus, questions, monkeypatch):
    scanned = found(study, questions, corpus)
    call_command("index", corpus, study=study.slug)

    def never(*_: object) -> None:
        raise AssertionError("the corpus was read although it has an index")

    monkeypatch.setattr(bm25, "scan", never)
    monkeypatch.setattr(Corpus, "open", never)
    assert found(study, questions, corpus) == scanned == {"q1": ["tide", "sea"], "q2": ["cat", "tide"]}
    # The index is of the contents, whatever the file's name; other settings are another index.
    assert found(study, questions, corpus.rename(corpus.with_name("moved.jsonl"))) == scanned
    with pytest.raises(AssertionError):
        found(study, questions, corpus.with_name("moved.jsonl"), "bm25?k1=0.9")


def test_an_interrupted_run_goes_on(study, corpus):
    ordered = index_runs.order("bm25", corpus)
    ordered = type(ordered)(ordered.choice, ordered.version, ordered.corpus, ordered.sha256, ordered.size, parts=4)
    run = index_runs.start(ordered, corpus, study=study)
    for _ in range(3):  # the corpus and two parts
        assert worker.work_next(run)
    lifecycle.cancel(run=run)
    assert retrievers.library().entries() == []
    before = {path: path.stat().st_mtime_ns for path in retrievers.library()._folder.rglob("*.npy")}
    assert len(before) == 3 + 2 * 4
    run = lifecycle.resume(run=Run.objects.get(pk=run.pk))
    worker.work_next(run)
    assert (
        before.items()
        <= {path: path.stat().st_mtime_ns for path in retrievers.library()._folder.rglob("*.npy")}.items()
    )
    run = lifecycle.wait(run)
    assert (run.state, run.summary["documents"]) == ("DONE", 4)
    assert retrievers.library().find(ordered).run == str(run.key)


@pytest.mark.extended
def test_the_page_and_the_api_list_and_delete_the_indexes_of_a_study(study, corpus, tmp_path):
    other = StudyFactory()
    call_command("index", corpus, study=study.slug)
    call_command("index", corpus, study=other.slug, searcher="bm25?k1=0.9")
    waiting = index_runs.start(index_runs.order("bm25?b=0.1", corpus), corpus, study=study)
    [built] = [index for index in index_runs.of_study(study) if index.key]
    address, api = f"/studies/{study.slug}/experiments/indexes/", f"/api/v1/studies/{study.slug}/indexes/"
    clients = {role: member_of(study, role) for role in (Role.VIEWER, Role.EDITOR)}

    page = clients[Role.VIEWER].get(address)
    assert [(index.choice, index.state) for index in page.context["indexes"]] == [
        ("bm25?b=0.1", "PLANNED"), ("bm25", "DONE")
    ]  # fmt: skip
    assert str(waiting.key) in page.content.decode()
    assert f"{built.key}/delete/" not in page.content.decode()
    assert f"{built.key}/delete/" in clients[Role.EDITOR].get(address).content.decode()
    row = clients[Role.VIEWER].get(api).json()["results"][1]
    entry = retrievers.library().find(index_runs.order("bm25", corpus))
    assert (row["key"], row["retriever"], row["passages"], row["bytes"], row["sha256"], row["state"]) == (
        entry.key, "bm25", 4, entry.size, entry.sha256, "DONE"
    )  # fmt: skip
    assert row["run"] == entry.run

    assert clients[Role.VIEWER].post(f"{address}{built.key}/delete/").status_code == 403
    [foreign] = [index.key for index in index_runs.of_study(other)]
    for client, key in ((clients[Role.EDITOR], foreign), (clients[Role.EDITOR], "none")):
        assert client.delete(f"{api}{key}/").status_code == 404
        assert client.post(f"{address}{key}/delete/").status_code == 302
    assert len(retrievers.library().entries()) == 2
    assert clients[Role.EDITOR].post(f"{address}{built.key}/delete/").status_code == 302
    assert [index.choice for index in index_runs.of_study(study)] == ["bm25?b=0.1"]
    call_command("index", corpus, study=study.slug)
    assert clients[Role.EDITOR].delete(f"{api}{built.key}/").status_code == 204
    assert [entry.key for entry in retrievers.library().entries()] == [foreign]


def test_a_bad_corpus_is_refused_with_its_line(study, tmp_path):
    bad = lines(tmp_path / "bad.jsonl", [{"id": "a", "text": "x"}, {"id": "b"}])
    with pytest.raises(CommandError, match="line 2"):
        call_command("index", bad, study=study.slug)
    run = Run.objects.get()
    assert (run.state, run.is_rejected, run.problems[0]["line"]) == ("FAILED", True, 2)


REFUSED = [
    ({"corpus": "none.jsonl"}, "none.jsonl"),
    ({"searcher": "given"}, "given"),
    ({"searcher": "bm25:all"}, "bm25:all"),
    ({"searcher": "bm25?k1=-1"}, "k1"),
    ({"searcher": "dense:anything"}, "anything"),
    ({"study": "none"}, "none"),
    ({"corpus": None}, "corpus"),
]


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(("options", "named"), REFUSED)
def test_what_cannot_be_indexed_is_refused(study, tmp_path, options, named):
    given = {"corpus": "docs.jsonl", "study": study.slug} | options
    path = given.pop("corpus")
    with pytest.raises(CommandError, match=named.replace("?", ".")):
        call_command("index", *[tmp_path / path] if path else [], **given)
    assert not Run.objects.exists()


def test_a_run_file_of_another_system_gives_the_candidates(study, corpus, questions, tmp_path):
    (tmp_path / "theirs.trec").write_text(
        "q1 Q0 cat 1 3.5 theirs\nq1 Q0 sea 2 3 theirs\nq1 broken\nq2 Q0 moon 1 1 theirs\n"
    )
    left_out: dict[str, int] = {}
    upload = services.with_candidates(
        study=study, questions=questions, corpus=corpus, n=2, searcher=f"trec:{tmp_path / 'theirs.trec'}",
        note=left_out.__setitem__,
    )  # fmt: skip
    documents = {query.id: query.documents for query in qa.read(upload.file.path).queries}
    assert {key: [each.id for each in found] for key, found in documents.items()} == {
        "q1": ["cat", "sea"],
        "q2": ["moon"],
    }
    assert documents["q1"][0].score == 3.5
    assert list(left_out.values()) == [1]
    assert upload.name == "asked-2-by-trec-theirs-of-docs.jsonl.gz"
    with pytest.raises(services.BadCollectionError, match=r"none\.trec"):
        services.with_candidates(study=study, questions=questions, corpus=corpus, searcher=f"trec:{tmp_path}/none.trec")


def _command(corpus: Path, study: str, root: Path) -> subprocess.Popen[bytes]:
    url = urlsplit(os.environ["DATABASE_URL"])
    database = urlunsplit(url._replace(path="/" + str(connection.settings_dict["NAME"])))
    environment = os.environ | {"DATABASE_URL": database, "CROWDRAG_INDEX_DIR": str(root)}
    code = (
        "import django; django.setup()\n"
        "from django.conf import settings; settings.RUNS_LEASE_SECONDS = 1\n"
        "from dataclasses import replace\n"
        "from analysis.rag.retrieval.engines import ENGINES\n"
        "engine = ENGINES['bm25']\n"
        "ENGINES['bm25'] = replace(engine, index=replace(engine.index, part_bytes=200_000))\n"
        "from django.core.management import call_command\n"
        f"call_command('index', {str(corpus)!r}, study={study!r})\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment | {"DJANGO_SETTINGS_MODULE": "crowdrag.settings"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "most", [pytest.param(4, marks=pytest.mark.extended), pytest.param(25, marks=[pytest.mark.soak, SLOW])]
)
def test_killed_again_and_again_the_command_builds_the_same_index(study, tmp_path, most):
    """SIGKILL at random moments of `crowdrag index`; started again, it ends with the files of an undisturbed one."""
    rng = random.Random(5)
    words = [f"w{rng.randrange(10_000)}" for _ in range(20_000)]
    corpus = lines(
        tmp_path / "big.jsonl",
        [{"id": f"d{n}", "contents": " ".join(rng.choices(words, k=60))} for n in range(8_000)],
    )
    folder, whole = tmp_path / "killed", tmp_path / "whole"
    began = time.monotonic()
    assert _command(corpus, study.slug, whole).wait() == 0
    took = time.monotonic() - began
    kills = 0
    while kills < most:
        process = _command(corpus, study.slug, folder)
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.3, 0.95) * took)
        if process.poll() is not None:
            assert process.returncode == 0
            break
        process.kill()
        process.wait()
        kills += 1
    assert _command(corpus, study.slug, folder).wait() == 0
    assert kills > 0
    assert _contents(folder) == _contents(whole)
    assert not list(folder.glob("**/*.part"))


def _contents(root: Path) -> dict[str, bytes]:
    """The files of a folder of indexes; of when and by which run they were built, nothing."""
    contents = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    for name, data in contents.items():
        if name.endswith("about.json"):
            about = json.loads(data)
            contents[name] = json.dumps(about | {"built_at": "", "run": ""}).encode()
    return contents

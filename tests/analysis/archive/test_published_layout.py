"""The published layout: what is exported reads as the published corpus does, and imports to the same study."""

import gzip
import io
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from analysis.analyses import services
from annotation.campaign_types.default_dimensions import NAMES
from annotation.imports import crowdrag25
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Study
from tests.analysis.archive.exported import contents, export, rows
from tests.factories import StudyFactory
from writing.corpus.imports import sources

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]
DATA = os.environ.get("CROWDRAG_DATA", "")
Rows = list[dict[str, Any]]
POINTWISE = "raw/study2_pointwise.jsonl.gz"
EXPERTS = "raw/expert-response.jsonl.gz"


def published(study: Study) -> dict[str, bytes]:
    return contents(export(study, "crowdrag25"))


def counted(given: Rows, *but: str) -> Counter[str]:
    """Count rows, fields in one order, whole numbers as such, missing values as null."""
    return Counter(json.dumps({k: _plain(v) for k, v in row.items() if k not in but}, sort_keys=True) for row in given)


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def import_folder(study: Study, members: list[sources.Member]) -> None:
    crowdrag25.import_corpus(study=study, source=sources.Source(members), now=timezone.now())


def members_of(files: dict[str, bytes]) -> list[sources.Member]:
    return [sources.Member(name, len(data), lambda data=data: io.BytesIO(data)) for name, data in files.items()]


def experts(content: bytes) -> Rows:
    columns = json.loads(gzip.decompress(content))
    return [{name: column[n] for name, column in columns.items()} for n in columns["slide"]]


def part(folder: Path, topics: int) -> Path:
    """Write the part of the sample that is about so many of the judged topics; every file has its rows of them."""
    sample = Path(DATA) / "crowdrag25"
    names = [str(path.relative_to(sample)) for path in sorted(sample.rglob("*.jsonl.gz"))]
    given = {name: rows((sample / name).read_bytes()) for name in names if "expert" not in name}
    votes = given["raw/study2_responses.jsonl.gz"]
    rated = given[POINTWISE]
    given[POINTWISE] = [row for row in rated if row["submission_id"] == rated[0]["submission_id"]]
    kept = {row["query_id"] for row in given[POINTWISE]}
    kept |= set(sorted({row["query_id"] for row in votes} - kept)[:topics])
    workers = {row["worker"] for row in votes if row["query_id"] in kept} | {row["worker"] for row in given[POINTWISE]}
    responses = {row[side] for row in votes if row["query_id"] in kept for side in ("response_a", "response_b")}
    for name, all_rows in given.items():
        about = "worker" if "demographic" in name else "query_id" if "query_id" in all_rows[0] else "topic"
        wanted = workers if about == "worker" else kept
        chosen = [row for row in all_rows if name == POINTWISE or row[about] in wanted]
        assert chosen, name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in chosen).encode()))
    columns = json.loads(gzip.decompress((sample / EXPERTS).read_bytes()))
    numbers = [n for n, response in columns["response_a"].items() if response in responses]
    cut = {name: {n: column[n] for n in numbers} for name, column in columns.items()}
    (folder / EXPERTS).write_bytes(gzip.compress(json.dumps(cut).encode()))
    return folder


@pytest.mark.timeout(600)
@pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the CrowdRAG-25 sample is not here")
@pytest.mark.parametrize(
    "topics", [pytest.param(4, marks=pytest.mark.extended), pytest.param(None, marks=pytest.mark.soak)]
)
def test_the_sample_comes_out_as_it_came_in(topics: int | None, tmp_path: Path) -> None:
    folder = part(tmp_path / "part", topics) if topics else Path(DATA) / "crowdrag25"
    study = StudyFactory()
    import_folder(study, list(sources.of_folder(folder)))
    run = lifecycle.wait(services.start(study=study, parameters={"resamples": 2, "restarts": 1}))
    assert run.state == RunState.DONE, run.error
    files = published(study)
    manifest = json.loads(files["manifest.json"])
    assert manifest["left_out"] == []
    assert set(manifest["omitted"]) == {"raw/llm_ratings_individual.jsonl.gz"}  # the sample has no reasons of these
    for name in ("raw/study1_retrieval", "raw/study1_tasks", "raw/study1_responses_human", "raw/study1_responses_llm",
                 "raw/study2_responses", "raw/study2_pointwise", "raw/study2_demographic", "raw/llm_ratings_combined",
                 "artifacts/llm_ratings"):  # fmt: skip
        given = (folder / f"{name}.jsonl.gz").read_bytes()
        assert counted(rows(files[f"{name}.jsonl.gz"])) == counted(rows(given)), name
    _same_order_of_snapshots(files["raw/study1_responses_human.jsonl.gz"], folder)
    given = (folder / EXPERTS).read_bytes()
    assert counted(experts(files[EXPERTS]), "timestamps") == counted(experts(given), "timestamps")
    _ratings_like_the_published(rows(files["artifacts/ratings.jsonl.gz"]), folder)
    _imports_again(files)


def _same_order_of_snapshots(ours: bytes, folder: Path) -> None:
    def by_response(content: bytes) -> dict[str, list[tuple[int, str]]]:
        found: dict[str, list[tuple[int, str]]] = {}
        for row in rows(content):
            found.setdefault(row["response"], []).append((row["timestamp"], row["text"]))
        return found

    theirs = (folder / "raw/study1_responses_human.jsonl.gz").read_bytes()
    assert by_response(ours) == by_response(theirs)


def _ratings_like_the_published(ours: Rows, folder: Path) -> None:
    """The votes are the published ones; labels come of another fit, and of half of the corpus."""
    theirs = rows((folder / "artifacts/ratings.jsonl.gz").read_bytes())
    assert {frozenset(row) for row in ours} == {frozenset(row) for row in theirs}
    by_pair = {(row["response_a"], row["response_b"]): row for row in theirs}
    assert len(ours) == len(by_pair)
    votes = rows((folder / "raw/study2_responses.jsonl.gz").read_bytes())
    asked = {(vote["response_a"], vote["response_b"], vote["worker"]): vote["submission_id"] for vote in votes}
    held: dict[tuple[str, str], set[str]] = {}
    for vote in votes:
        held.setdefault((vote["response_a"], vote["response_b"]), set()).add(vote["submission_id"])
    same = 0
    for row in ours:
        published_row = by_pair[row["response_a"], row["response_b"]]
        # Of a pair that two questionnaires held, the published file names either: we name the one of the votes.
        pair = (row["response_a"], row["response_b"])
        assert row["submission_id"] == asked[(*pair, row["worker"][0])]
        assert row["submission_id"] == published_row["submission_id"] or len(held[pair]) == 2
        fixed = ["query_id", "worker", *(f"{name}_vote" for name in NAMES)]
        assert {name: row[name] for name in fixed} == {name: published_row[name] for name in fixed}
        same += sum(row[f"{name}_gold"] == published_row[f"{name}_gold"] for name in NAMES)
        for name in NAMES:
            assert all(0 <= p <= 1 for p in row[f"{name}_spam_probability"])
            letters = "ab" if f"{name}_p_n" not in row else "anb"
            assert sum(row[f"{name}_p_{letter}"] for letter in letters) == pytest.approx(1)
    assert same / (len(ours) * len(NAMES)) > 0.8


def _imports_again(files: dict[str, bytes]) -> None:
    other = StudyFactory()
    import_folder(other, members_of({name: data for name, data in files.items() if name != "manifest.json"}))
    again = published(other)
    changed = {name for name in files if name != "manifest.json" and again.get(name) != files[name]}
    # The second study was not analysed: it has no labels. All else is the same to the byte.
    assert changed == {"artifacts/ratings.jsonl.gz"}
    assert "artifacts/ratings.jsonl.gz" in json.loads(again["manifest.json"])["omitted"]

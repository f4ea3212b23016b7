"""The corpus in parts, packed, with derived files that disagree, and in two studies at once."""

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotation.imports import crowdrag25
from annotation.models import Judgment, Pair
from crowdrag.studies.models import Study
from tests.annotation.imports.published_corpora import CORPUS, NOW, Folder, bring_in, everything
from tests.factories import StudyFactory
from writing.corpus.imports import sources
from writing.corpus.imports.problems import Problems
from writing.corpus.imports.sources import Source
from writing.models import Response

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "corpus")


def test_parts_of_the_corpus_come_one_after_another(study: Study, folder: Folder) -> None:
    writing = ["raw/study1_retrieval", "raw/study1_tasks", "raw/study1_responses_human", "raw/study1_responses_llm"]
    judging = [
        "raw/study2_responses",
        "raw/study2_pointwise",
        "raw/study2_demographic",
        "raw/expert-response",
        "raw/llm_ratings_combined",
    ]
    artifacts = ["artifacts/llm_ratings", "artifacts/ratings", "artifacts/responses"]
    folder.remove(*judging, *artifacts)

    first = bring_in(study, folder.path)

    assert first["made"]["responses"] == 8
    assert first["files_not_there"] == [
        Path(name).name
        for name in (*judging, "raw/llm_ratings_individual", "artifacts/llm_ratings", "artifacts/ratings", "responses")
    ]
    second = Folder(folder.path.parent / "second")
    second.remove(*writing)
    assert bring_in(study, second.path)["made"]["crowd-pairwise"]["judgments"] == 56
    before = everything()
    bring_in(study, CORPUS)
    assert everything() == before


@pytest.mark.extended
def test_two_studies_hold_the_same_corpus_side_by_side(study: Study) -> None:
    bring_in(study, CORPUS)
    bring_in(StudyFactory(), CORPUS)

    assert Response.objects.filter(external_id="h-1").count() == 2
    assert Pair.objects.filter(study=study).count() == 3


def test_the_models_judgments_come_from_the_artifacts_alone(study: Study, folder: Folder) -> None:
    folder.remove("raw/llm_ratings_combined")

    made = bring_in(study, folder.path)["made"]

    assert made["model-combined"]["judgments"] == 21
    assert Judgment.objects.filter(repeat=1, item__campaign__name="model-combined").count() == 7


def test_differences_of_derived_files_are_said_and_no_reason_to_refuse(study: Study, folder: Folder) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["coverage_deep_vote"][0] = "N"
        rows[1]["worker"] = "nobody"

    folder.change("artifacts/ratings", change)
    folder.change("artifacts/llm_ratings", lambda rows: rows[0].update(coverage_deep="n"))
    (folder.path / "artifacts/responses.jsonl").write_bytes(b"\xff\xfe rubbish")

    summary = bring_in(study, folder.path, strict=False)

    assert summary["published_ratings"]["equal"] == 1
    assert summary["published_ratings"]["examples"] == ["h-1 m-1", "m-1 h-1"]
    assert summary["model_combined"] == {
        "equal_in_both_files": 2,
        "different": 1,
        "only_in_raw": 0,
        "only_in_artifacts": 0,
    }
    assert summary["published_responses"]["compared"] == 0
    assert "UTF-8" in summary["published_responses"]["unreadable"][0]


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_an_archive_of_the_folder_is_read_as_the_folder(kind: str, study: Study, tmp_path: Path) -> None:
    file = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in CORPUS.rglob("*.jsonl"):
                archive.write(path, f"my corpus/{path.relative_to(CORPUS)}")
    else:
        with tarfile.open(fileobj=file, mode="w:gz") as tarred:
            tarred.add(CORPUS, "my corpus")
    problems = Problems()

    with sources.of_archive(file, f"corpus.{kind}", problems) as members:
        corpus = crowdrag25.read(Source(members), problems)

    assert crowdrag25.store(study=study, corpus=corpus, now=NOW).summary["made"]["crowd-pairwise"]["judgments"] == 56

"""A study's answers, exported in a format of RAG evaluation and imported into another study, are the same answers."""

import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from analysis.archive import answers_release, services
from analysis.archive.writer import Package
from analysis.crowdrag25 import inclusion
from crowdrag.jobs.kinds import Work
from crowdrag.jobs.models import Run, Unit
from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from writing.corpus.formats.format_registry import Format
from writing.corpus.formats.values import Part
from writing.models import Passage, Response, Topic

pytestmark = pytest.mark.django_db

#: The parts that the answers of the study have.
PARTS = (
    Part.TOPIC_ID, Part.RUN, Part.TEAM, Part.QUERY, Part.SENTENCES, Part.CITATIONS, Part.REFERENCES, Part.PASSAGES,
    Part.PASSAGE_IDS, Part.TITLES,
)  # fmt: skip
PASSAGES = [{"id": f"d{n}", "text": f"Passage {n}.", "title": "T", "url": "https://example.org"} for n in range(3)]
TOPICS = [{"topic": f"t{n}", "query": f"Query {n}?", "narrative": "More.", "passages": PASSAGES} for n in range(2)]
RESPONSES = [
    {"topic": f"t{n}", "run": run, "text": f"{run} says so [0, 2]. And this, too [1]."}
    for n in range(2)
    for run in "ab"
]


def command(*arguments: object) -> dict[str, Any]:
    out = StringIO()
    call_command(*map(str, arguments), "--json", stdout=out, stderr=StringIO())
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study: Study = StudyFactory(slug="source")
    for name, records in (("topics", TOPICS), ("responses", RESPONSES)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        command("import", name, path, "--study", study.slug)
    Response.objects.filter(external_id=Response.objects.earliest("pk").external_id).update(is_included=False)
    return study


def texts(slug: str) -> set[tuple[str, str, str]]:
    rows = Response.objects.filter(study__slug=slug, is_included=True)
    return set(rows.values_list("participant__external_id", "topic__query", "text"))


def exported(study: Study, format_: Format, out: Path) -> dict[str, Any]:
    """Write the export and return its manifest."""
    with Package(out) as package:
        manifest = answers_release.write(package, Work(Run(study=study), Unit()), format_=format_)
        package.manifest(manifest)
        files = {file.path: file.rows for file in package.files}
    assert files == {
        f"answers/a{format_.suffix}": 1, f"answers/b{format_.suffix}": 2, "topics.jsonl": 2, "passages.jsonl": 3,
    }  # fmt: skip
    return manifest


@pytest.mark.parametrize("format_", services.ANSWER_FORMATS, ids=lambda format_: format_.name)
def test_an_export_is_imported_again(study: Study, tmp_path: Path, format_: Format) -> None:
    out = tmp_path / "answers.zip"
    manifest = exported(study, format_, out)
    lost = {entry["what"].partition(":")[0] for entry in manifest["left_out"]}
    assert lost == {str(part) for part in PARTS if part not in format_.holds} | {inclusion.EXCLUDED}

    command("import", "answers", out, "--study", "target", "--format", format_.name)

    if Part.CITATIONS in format_.holds:
        assert texts("target") == texts("source")
        again = command("import", "answers", out, "--study", "source")["summary"]
        assert (again["topics_unchanged"], again["responses_unchanged"]) == (2, 3)
    assert len(texts("target")) == 3
    assert Topic.objects.filter(study__slug="target").count() == 2
    if Part.PASSAGE_IDS in format_.holds or Part.REFERENCES in format_.holds:
        assert Passage.objects.filter(study__slug="target").count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("own_files")
def test_the_command_writes_the_file(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "answers.zip"
    result = command("export", study.slug, "--format", "trec-rag25", "--out", out)

    assert result["left_out"][inclusion.EXCLUDED] == 1
    with zipfile.ZipFile(out) as zipped:
        [record] = map(json.loads, zipped.read("answers/a.jsonl").splitlines())
        manifest = json.loads(zipped.read("manifest.json"))
    assert record["references"] == ["d0", "d1", "d2"]
    assert [sentence["citations"] for sentence in record["answer"]] == [[0, 2], [1]]
    assert manifest["systems"] == {"answers/a.jsonl": "a", "answers/b.jsonl": "b"}

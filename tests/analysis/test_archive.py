"""An archive of a study imports to an equal study; whatever is wrong with it is refused, and nothing changes."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from analysis.domain.corpus import exporting
from analysis.domain.corpus.tables import ALL
from crowdrag.runs.domain import running, uploads
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Artifact, Run
from crowdrag.studies.models import Participant, Study
from tests.factories import StudyFactory

from .whole_study import HOSTILE, whole_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path


def export(study: Study, format_: str = "archive") -> Artifact:
    run = running.wait(exporting.start(study=study, format_=format_))
    assert run.state == RunState.DONE, run.error or [unit.error for unit in run.units.all()]
    return run.artifacts.get()


def import_archive(study: Study, path: Path) -> Run:
    upload = uploads.store(study=study, source=path)
    run = running.start(study=study, kind="import.archive", parameters={"upload": upload.pk})
    return running.wait(run)


def contents(artifact: Artifact) -> dict[str, bytes]:
    with zipfile.ZipFile(artifact.file.path) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def test_imports_to_an_equal_study() -> None:
    study = whole_study()
    first = export(study)
    other = StudyFactory()
    run = import_archive(other, Path(first.file.path))
    assert run.state == RunState.DONE, (run.problems, run.error)
    before, after = contents(first), contents(export(other))
    manifests = [json.loads(content.pop("manifest.json")) for content in (before, after)]
    assert before.keys() == {table.file for table in ALL}
    assert all(len(gzip.decompress(content)) for content in before.values()), "a table is not tested"
    assert {name for name in before if before[name] != after[name]} == set()
    assert manifests[0]["files"] == manifests[1]["files"]
    assert (
        HOSTILE in gzip.decompress(before["data/responses.jsonl.gz"]).decode()
        or json.dumps(HOSTILE, ensure_ascii=False)[1:-1] in gzip.decompress(before["data/responses.jsonl.gz"]).decode()
    )
    assert Participant.objects.filter(study=other, identity__isnull=False).count() == 0

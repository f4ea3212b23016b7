"""The page of exports and the command."""

import hashlib
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.archive import services
from crowdrag.jobs import run_files, worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis.page_visits import client_of
from tests.factories import NOW, StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]


@pytest.fixture
def study() -> Study:
    return StudyFactory(slug="here")


def finished(study: Study, tmp_path: Path, n: int) -> Artifact:
    run = Run.objects.create(study=study, kind="export.archive", state=RunState.DONE, code_version="1",
                             created_at=NOW, started_at=NOW, finished_at=NOW)  # fmt: skip
    path = tmp_path / f"{n}.zip"
    path.write_bytes(b"x" * (n + 1))
    return run_files.publish_artifact(run=run, name=f"{n}.zip", path=path, media_type="application/zip")


def shown(study: Study, role: Role = Role.VIEWER) -> str:
    return client_of(study, role).get(reverse("exports", args=[study.slug])).content.decode()


def test_viewers_download_what_editors_start(study: Study, tmp_path: Path) -> None:
    artifact = finished(study, tmp_path, 0)
    theirs = finished(StudyFactory(), tmp_path, 1)
    start, file = reverse("export_start", args=[study.slug]), f"{artifact.run.key}/files/{artifact.name}"
    page = shown(study)
    assert file in page
    assert artifact.sha256 in page
    assert theirs.name not in page
    assert f'action="{start}"' not in page
    page = shown(study, Role.EDITOR)
    assert all(f'value="{name}"' in page for name in services.WRITERS)
    assert f'action="{start}"' in page


def test_an_editor_starts_an_export_of_a_known_format_and_finds_its_run(study: Study) -> None:
    client = client_of(study, Role.EDITOR)
    start = reverse("export_start", args=[study.slug])
    refused = client.post(start, {"format": "xlsx"}, follow=True)
    assert [message.level_tag for message in refused.context["messages"]] == ["error"]
    assert not Run.objects.exists()
    for format_ in services.WRITERS:
        answer = client.post(start, {"format": format_})
        run = Run.objects.get(kind=f"export.{format_}")
        assert (run.study, answer["Location"]) == (study, reverse("run", args=[study.slug, run.key]))
        assert answer["Location"] in shown(study)


def test_more_exports_need_no_more_queries(study: Study, tmp_path: Path) -> None:
    client = client_of(study, Role.OWNER)
    counts = []
    for n in range(3):
        finished(study, tmp_path, n)
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("exports", args=[study.slug]))
        counts.append(len(queries))
    assert counts[0] == counts[2]


def test_the_command_writes_the_file_if_the_run_does_not_fail(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> dict[str, object]:
        raise ValueError("cannot be written")

    out, printed = tmp_path / "out" / "study.zip", StringIO()
    out.parent.mkdir()
    for format_ in services.WRITERS:
        call_command("export", study.slug, "--format", format_, "--out", str(out), stdout=printed)
        artifact = Artifact.objects.get(run__kind=f"export.{format_}")
        assert hashlib.sha256(out.read_bytes()).hexdigest() == artifact.sha256
        assert artifact.sha256 in printed.getvalue()
        assert list(out.parent.iterdir()) == [out]
        out.unlink()
    monkeypatch.setitem(services.WRITERS, "archive", broken)
    monkeypatch.setattr("crowdrag.jobs.leases.MAX_ATTEMPTS", 1)
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export", study.slug, "--out", str(out))
    assert not out.exists()


def test_a_damaged_export_is_not_handed_out(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(run: Run, **_: object) -> Run:
        run = worker.follow(run)
        Path(run.artifacts.get().file.path).write_bytes(b"other")
        return run

    monkeypatch.setattr("crowdrag.jobs.lifecycle.wait", damaged)
    with pytest.raises(CommandError):
        call_command("export", study.slug, "--out", str(tmp_path / "study.zip"))
    assert Run.objects.get().state == RunState.DONE
    assert [path.name for path in tmp_path.iterdir() if "study" in path.name] == []


def test_a_file_that_cannot_be_written_stays_as_it_was(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def moved(_storage: object, *, path: Path, name: str) -> None:
        target = Path(default_storage.path(name))
        target.parent.mkdir(parents=True)
        shutil.move(path, target)

    out = tmp_path / "study.zip"
    out.write_bytes(b"as it was")
    monkeypatch.setattr(Path, "replace", full)
    monkeypatch.setattr("crowdrag.jobs.file_storage.move_in", moved)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("export", study.slug, "--out", str(out))
    assert out.read_bytes() == b"as it was"
    assert [path.name for path in tmp_path.iterdir() if "study" in path.name] == [out.name]


def test_the_command_refuses_what_it_cannot_do(study: Study, tmp_path: Path) -> None:
    for arguments, named in (
        (["there", "--out", str(tmp_path / "a.zip")], study.slug),  # the studies that there are
        ([study.slug], "--out"),
        ([study.slug, "--out", str(tmp_path / "no" / "a.zip")], str(tmp_path / "no")),
        ([study.slug, "--out", str(tmp_path)], str(tmp_path)),
    ):
        with pytest.raises(CommandError, match=named):
            call_command("export", *arguments)
    assert not Run.objects.exists()

"""The page of exports and the command."""

import hashlib
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.domain.corpus import exporting
from crowdrag.runs.domain import artifacts, waiting
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Artifact, Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import NOW, MembershipFactory, StudyFactory

from .whole_study import whole_study


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path


def client_of(study: Study, role: Role) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def finished(study: Study, tmp_path: Path, n: int) -> Artifact:
    run = Run.objects.create(
        study=study,
        kind="export.archive",
        state=RunState.DONE,
        code_version="1",
        created_at=NOW,
        started_at=NOW,
        finished_at=NOW,
    )
    path = tmp_path / f"{n}.zip"
    path.write_bytes(b"x" * (n + 1))
    return artifacts.publish(run=run, name=f"{n}.zip", path=path, media_type="application/zip")


@pytest.mark.django_db
def test_without_exports_it_says_what_will_be_here() -> None:
    study = StudyFactory()
    page = client_of(study, Role.EDITOR).get(reverse("exports", args=[study.slug])).content.decode()
    assert "No exports yet" in page
    assert 'value="archive"' in page
    assert 'value="crowdrag25"' in page


@pytest.mark.django_db
@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_who_may_not_edit_may_download_but_not_start(role: Role, tmp_path: Path) -> None:
    study = StudyFactory()
    artifact = finished(study, tmp_path, 0)
    client = client_of(study, role)
    page = client.get(reverse("exports", args=[study.slug])).content.decode()
    address = reverse("run_file", args=[study.slug, artifact.run.key, artifact.name])
    assert f'href="{address}"' in page
    assert artifact.sha256 in page
    assert '<form method="post" action="' + reverse("export_start", args=[study.slug]) not in page
    assert b"".join(client.get(address)) == b"x"  # type: ignore[call-overload]
    assert client.post(reverse("export_start", args=[study.slug]), {"format": "archive"}).status_code == 403
    assert not Run.objects.exclude(pk=artifact.run.pk).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("format_", list(exporting.WRITERS))
def test_an_editor_starts_an_export_and_sees_its_progress(format_: str) -> None:
    study = StudyFactory()
    client = client_of(study, Role.EDITOR)
    answer = client.post(reverse("export_start", args=[study.slug]), {"format": format_})
    run = Run.objects.get()
    assert (run.kind, run.study) == (f"export.{format_}", study)
    assert answer["Location"] == reverse("run", args=[study.slug, run.key])
    page = client.get(reverse("exports", args=[study.slug])).content.decode()
    assert "Being written" in page
    assert answer["Location"] in page


@pytest.mark.django_db
def test_an_unknown_format_is_refused() -> None:
    study = StudyFactory()
    answer = client_of(study, Role.EDITOR).post(
        reverse("export_start", args=[study.slug]), {"format": "xlsx"}, follow=True
    )
    assert "There is no such format" in answer.content.decode()
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_exports_of_other_studies_are_not_listed(tmp_path: Path) -> None:
    study = StudyFactory()
    theirs = finished(StudyFactory(), tmp_path, 0)
    client = client_of(study, Role.OWNER)
    assert theirs.name not in client.get(reverse("exports", args=[study.slug])).content.decode()
    assert client.get(reverse("run_file", args=[study.slug, theirs.run.key, theirs.name])).status_code == 404


@pytest.mark.django_db
def test_more_exports_need_no_more_queries(tmp_path: Path) -> None:
    study = StudyFactory()
    client = client_of(study, Role.OWNER)
    counts = []
    for n in range(3):
        finished(study, tmp_path, n)
        if n in (0, 2):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                client.get(reverse("exports", args=[study.slug]))
            counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("format_", list(exporting.WRITERS))
def test_the_command_writes_the_file(format_: str, tmp_path: Path) -> None:
    study = whole_study()
    out, said = tmp_path / "out" / "study.zip", StringIO()
    out.parent.mkdir()
    call_command("export", study.slug, "--format", format_, "--out", str(out), stdout=said)
    artifact = Artifact.objects.get(run__kind=f"export.{format_}")
    assert hashlib.sha256(out.read_bytes()).hexdigest() == artifact.sha256
    assert artifact.sha256 in said.getvalue()
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.django_db(transaction=True)
def test_the_command_fails_as_the_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> dict[str, object]:
        raise ValueError("cannot be written")

    monkeypatch.setitem(exporting.WRITERS, "archive", broken)
    monkeypatch.setattr("crowdrag.runs.domain.timing.MAX_ATTEMPTS", 1)
    study = StudyFactory()
    out = tmp_path / "study.zip"
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export", study.slug, "--out", str(out))
    assert not out.exists()


@pytest.mark.django_db(transaction=True)
def test_a_damaged_export_is_not_handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = StudyFactory()

    def damaged(run: Run, **_: object) -> Run:
        run = waiting.follow(run)
        Path(run.artifacts.get().file.path).write_bytes(b"other")
        return run

    monkeypatch.setattr("analysis.management.commands.export.running.wait", damaged)
    with pytest.raises(CommandError, match="damaged"):
        call_command("export", study.slug, "--out", str(tmp_path / "study.zip"))
    assert not list(tmp_path.glob("*.zip"))
    assert not list(tmp_path.glob(".study*"))


@pytest.mark.django_db(transaction=True)
def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    study, out = StudyFactory(), tmp_path / "study.zip"
    out.write_bytes(b"as it was")
    monkeypatch.setattr(Path, "replace", full)
    monkeypatch.setattr("crowdrag.runs.domain.storing.move_in", shutil_move)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("export", study.slug, "--out", str(out))
    assert out.read_bytes() == b"as it was"
    assert not list(tmp_path.glob(".study*"))


def shutil_move(_storage: object, *, path: Path, name: str) -> None:
    target = Path(default_storage.path(name))
    target.parent.mkdir(parents=True)
    shutil.move(path, target)


@pytest.mark.django_db
def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    study = StudyFactory(slug="here")
    with pytest.raises(CommandError, match="There are: here"):
        call_command("export", "there", "--out", str(tmp_path / "a.zip"))
    with pytest.raises(CommandError, match="Say which study"):
        call_command("export", study.slug)
    with pytest.raises(CommandError, match="There is no folder"):
        call_command("export", study.slug, "--out", str(tmp_path / "no" / "a.zip"))
    with pytest.raises(CommandError, match="is a folder"):
        call_command("export", study.slug, "--out", str(tmp_path))
    assert not Run.objects.exists()

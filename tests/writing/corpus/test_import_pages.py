"""Importing in the browser: what comes of it, and what is refused before it is read."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Judgment
from crowdrag.jobs import worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory
from writing.models import Topic

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[2] / "data"
KINDS = ("crowdrag25", "topics", "trec", "responses", "questionnaire")


@pytest.fixture
def study(settings: Any, tmp_path: Path) -> Study:
    settings.MEDIA_ROOT = tmp_path / "files"
    return StudyFactory()


@pytest.fixture
def client(study: Study) -> Client:
    return signed_in(study)


def signed_in(study: Study, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(MembershipFactory(study=study, role=Role.EDITOR).user)
    return client


def upload(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (DATA / "imports" / name).read_bytes())


def page(study: Study, name: str = "topics") -> str:
    return reverse("import_form", args=[study.slug, name])


def worked(study: Study) -> Run:
    """The study's run, after its work was done."""
    run = Run.objects.get(study=study)
    assert worker.work_next(run)
    run.refresh_from_db()
    return run


def test_each_kind_is_listed_and_has_a_form(study: Study, client: Client) -> None:
    listed = client.get(reverse("import", args=[study.slug])).content.decode()
    for name in KINDS:
        assert page(study, name) in listed
        form = client.get(page(study, name)).content.decode()
        assert ('type="file"' in form, " multiple" in form) == (True, name == "crowdrag25")
        assert ">Import</button>" in form
    assert ">Import</button>" not in client.get(page(study, "csv")).content.decode()  # its second page imports
    assert client.get(page(study, "everything")).status_code == 404


def test_an_upload_becomes_a_run_that_stores_it(study: Study, client: Client) -> None:
    response = client.post(page(study), {"file": upload("topics.jsonl")})
    kept, run = Upload.objects.get(study=study), worked(study)
    assert response["Location"] == reverse("run", args=[study.slug, run.key])
    assert run.created_by is not None
    assert run.parameters["inputs"] == [{"role": "file", "upload": kept.pk}]
    assert (run.state, run.summary["topics"]) == (RunState.DONE, 2)
    assert Topic.objects.filter(study=study).count() == 2
    assert client.get(response["Location"], follow=True).status_code == 200


def test_htmx_is_sent_to_the_run_with_several_files_and_options(study: Study, client: Client) -> None:
    files = {"topics": upload("topics.tsv"), "run": upload("run.txt"), "passages": upload("passages.jsonl")}
    answer = client.post(page(study, "trec"), files | {"depth": "1"}, headers={"HX-Request": "true"})
    run = worked(study)
    assert (answer["HX-Redirect"], run.parameters["depth"]) == (reverse("run", args=[study.slug, run.key]), 1)
    assert Topic.objects.get(study=study, external_id="t-1").retrieved.count() == 1


def corpus_zip() -> SimpleUploadedFile:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in (DATA / "crowdrag25").rglob("*.jsonl"):
            archive.write(path, str(path.relative_to(DATA)))
    return SimpleUploadedFile("corpus.zip", file.getvalue())


def corpus_files() -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in (DATA / "crowdrag25").rglob("*.jsonl")]


@pytest.mark.parametrize("files", [corpus_zip, corpus_files])
def test_a_corpus_comes_as_an_archive_or_as_its_files(study: Study, client: Client, files: Any) -> None:
    client.post(page(study, "crowdrag25"), {"folder": files()})
    run = worked(study)
    assert run.state == RunState.DONE, run.problems
    assert Judgment.objects.filter(item__campaign__study=study).count() == 175


def test_bad_input_shows_as_a_table_on_the_runs_page(study: Study, client: Client) -> None:
    bad = SimpleUploadedFile("topics.jsonl", json.dumps({"topic": "<script>", "query": 5, "passages": []}).encode())
    response = client.post(page(study), {"file": bad})
    run, content = worked(study), client.get(response["Location"]).content.decode()
    assert {problem["field"] for problem in run.problems} == {"query", "passages"}
    assert all(problem["expected"] in content for problem in run.problems)
    assert not Topic.objects.exists()


def test_a_form_without_a_file_or_with_two_comes_back(study: Study, client: Client) -> None:
    two = [upload("topics.jsonl"), upload("responses.jsonl")]
    for data in ({}, {"file": SimpleUploadedFile("e", b"")}, {"file": two}):
        response = client.post(page(study), data)
        assert (response.status_code, list(response.context["form"].errors)) == (422, ["file"])
    assert not Run.objects.exists()


def test_a_huge_request_is_refused_before_it_is_read(study: Study, client: Client) -> None:
    class Unreadable(io.BytesIO):
        def read(self, *_size: int) -> bytes:
            pytest.fail("the request was read")

    form = {"content_type": "multipart/form-data; boundary=x", "CONTENT_LENGTH": str(10 * 1024**3)}
    response = client.generic("POST", page(study), b"", **form, **{"wsgi.input": Unreadable()})
    assert response.status_code == 413
    assert "2048" in response["X-Problem"]
    assert not Run.objects.exists()


def test_the_token_against_forged_requests_is_asked_for(study: Study) -> None:
    client = signed_in(study, enforce_csrf_checks=True)
    assert client.post(page(study), {"file": upload("topics.jsonl")}).status_code == 403
    assert not Run.objects.exists()


def test_an_upload_of_another_study_is_not_read(study: Study, client: Client) -> None:
    client.post(page(study), {"file": upload("topics.jsonl")})
    foreign, other = Upload.objects.get(), StudyFactory()
    signed_in(other).post(page(other), {"file": upload("topics.jsonl")})
    Run.objects.filter(study=other).update(parameters={"inputs": [{"role": "file", "upload": foreign.pk}]})
    run = worked(other)
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)
    assert not Topic.objects.filter(study=other).exists()

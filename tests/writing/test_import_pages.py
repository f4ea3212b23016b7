"""Importing in the browser: who may, what comes of it, and what is refused before it is read."""

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
from crowdrag.runs.domain import executing
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run, Upload
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory
from writing.models import Topic

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data"
IMPORTS = DATA / "imports"


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture(autouse=True)
def _files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"


def signed_in(study: Study, role: Role = Role.EDITOR) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def upload(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (IMPORTS / name).read_bytes())


def page(study: Study, name: str) -> str:
    return reverse("importing", args=[study.slug, name])


def test_the_page_lists_every_kind(study: Study) -> None:
    content = signed_in(study).get(reverse("import", args=[study.slug])).content.decode()

    for name in ("crowdrag25", "topics", "trec", "responses", "questionnaire"):
        assert page(study, name) in content


@pytest.mark.parametrize("name", ["crowdrag25", "topics", "trec", "responses", "questionnaire"])
def test_each_kind_has_a_form_and_shows_its_format(study: Study, name: str) -> None:
    response = signed_in(study).get(page(study, name))

    assert response.status_code == 200
    content = response.content.decode()
    assert 'type="file"' in content
    assert "<pre>" in content
    assert (" multiple" in content) == (name == "crowdrag25")


def test_an_upload_becomes_a_run_that_stores_it(study: Study) -> None:
    client = signed_in(study)

    response = client.post(page(study, "topics"), {"file": upload("topics.jsonl")})

    run = Run.objects.get(study=study)
    assert response.url == reverse("run", args=[study.slug, run.key])  # type: ignore[attr-defined]
    assert run.created_by is not None
    kept = Upload.objects.get(study=study)
    assert run.parameters == {"inputs": [{"role": "file", "upload": kept.pk}]}
    assert executing.work_next(run)
    run.refresh_from_db()
    assert (run.state, run.summary["topics"]) == (RunState.DONE, 2)
    assert Topic.objects.filter(study=study).count() == 2
    assert client.get(response.url).status_code == 200  # type: ignore[attr-defined]


def test_htmx_is_sent_to_the_run(study: Study) -> None:
    response = signed_in(study).post(
        page(study, "topics"), {"file": upload("topics.jsonl")}, headers={"HX-Request": "true"}
    )

    assert response["HX-Redirect"] == reverse("run", args=[study.slug, Run.objects.get().key])


def test_several_files_and_options_come_through(study: Study) -> None:
    files = {"topics": upload("topics.tsv"), "run": upload("run.txt"), "passages": upload("passages.jsonl")}

    signed_in(study).post(page(study, "trec"), files | {"depth": "1"})

    run = Run.objects.get(study=study)
    assert run.parameters["depth"] == 1
    assert executing.work_next(run)
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
def test_a_corpus_comes_as_an_archive_or_as_its_files(study: Study, files: Any) -> None:
    signed_in(study).post(page(study, "crowdrag25"), {"folder": files()})

    run = Run.objects.get(study=study)
    assert executing.work_next(run)
    run.refresh_from_db()
    assert run.state == RunState.DONE, run.problems
    assert Judgment.objects.filter(item__campaign__study=study).count() == 175


def test_bad_input_shows_as_a_table_on_the_runs_page(study: Study) -> None:
    client = signed_in(study)
    bad = SimpleUploadedFile("topics.jsonl", json.dumps({"topic": "<script>", "query": 5, "passages": []}).encode())

    response = client.post(page(study, "topics"), {"file": bad})
    assert executing.work_next(Run.objects.get())

    content = client.get(response.url).content.decode()  # type: ignore[attr-defined]
    assert "a text that is not empty" in content
    assert "got 5" in content
    assert not Topic.objects.exists()


@pytest.mark.parametrize(
    ("data", "said"), [({}, "This field is required"), ({"file": SimpleUploadedFile("e", b"")}, "empty")]
)
def test_a_form_that_is_not_filled_in_comes_back(study: Study, data: dict[str, Any], said: str) -> None:
    response = signed_in(study).post(page(study, "topics"), data)

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not Run.objects.exists()


def test_two_files_for_one_are_refused(study: Study) -> None:
    two = [upload("topics.jsonl"), upload("responses.jsonl")]

    response = signed_in(study).post(page(study, "topics"), {"file": two})

    assert (response.status_code, "Choose one file" in response.content.decode()) == (422, True)


def test_a_huge_request_is_refused_before_it_is_read(study: Study) -> None:
    class Unreadable(io.BytesIO):
        def read(self, *_size: int) -> bytes:
            pytest.fail("the request was read")

    address = page(study, "topics")
    response = signed_in(study).generic(
        "POST",
        address,
        b"",
        content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH=str(10 * 1024**3),
        **{"wsgi.input": Unreadable()},
    )

    assert response.status_code == 413
    assert "2048 MB" in response["X-Problem"]
    assert not Run.objects.exists()


def test_the_token_is_asked_for(study: Study) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(MembershipFactory(study=study, role=Role.EDITOR).user)

    assert client.post(page(study, "topics"), {"file": upload("topics.jsonl")}).status_code == 403
    assert not Run.objects.exists()


def test_an_unknown_kind_is_not_found(study: Study) -> None:
    assert signed_in(study).get(page(study, "everything")).status_code == 404


def test_an_upload_of_another_study_is_not_read(study: Study) -> None:
    signed_in(study).post(page(study, "topics"), {"file": upload("topics.jsonl")})
    foreign = Upload.objects.get()
    other = StudyFactory()
    signed_in(other).post(page(other, "topics"), {"file": upload("topics.jsonl")})
    run = Run.objects.get(study=other)
    Run.objects.filter(pk=run.pk).update(parameters={"inputs": [{"role": "file", "upload": foreign.pk}]})

    assert executing.work_next(run)

    run.refresh_from_db()
    assert run.problems[0]["message"] == "it is not there any more; upload it again"
    assert not Topic.objects.filter(study=other).exists()

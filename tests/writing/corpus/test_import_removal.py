"""Delete what an import brought: all of it, or nothing if other data use it."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, ResponseFactory, TopicFactory
from writing.corpus.imports import importers, removal

pytestmark = pytest.mark.django_db


def imported(study: Study, content: bytes = b"question,alpha\nIs it cold?,Yes [0].\n") -> Run:
    files = {"file": [SimpleUploadedFile("answers.csv", content)]}
    run = importers.start(study=study, importer=importers.get("csv"), files=files)
    assert lifecycle.wait(run).state == RunState.DONE
    run.refresh_from_db()
    return run


def test_what_an_import_brought_is_deleted_with_its_file_and_nothing_else() -> None:
    study = MembershipFactory().study
    kept = TopicFactory(study=study)
    run = imported(study)
    assert removal.deletable(study) == [run]
    deletion = lifecycle.wait(removal.start(run=run, by=None))
    assert (deletion.state, deletion.summary) == (RunState.DONE, {"topics": 1, "responses": 1})
    assert list(study.topics.all()) == [kept]
    assert (study.responses.count(), study.participants.count(), study.uploads.count()) == (0, 0, 0)
    assert removal.deletable(study) == []
    assert removal.start(run=run, by=None) == deletion


def test_an_import_on_which_something_stands_stays_whole() -> None:
    study = MembershipFactory().study
    run = imported(study)
    ResponseFactory(study=study, topic=study.topics.get())
    with pytest.raises(removal.NotDeletableError):
        removal.start(run=run, by=None)
    assert (study.topics.count(), study.responses.count(), study.runs.count()) == (1, 2, 1)


def test_editors_delete_imports(client: Client) -> None:
    member = MembershipFactory(role=Role.EDITOR)
    run = imported(member.study)
    address = reverse("import_delete", args=[member.study.slug, run.key])
    client.force_login(MembershipFactory(study=member.study, role=Role.REVIEWER).user)
    assert client.post(address).status_code == 403
    client.force_login(member.user)
    assert address in client.get(reverse("import", args=[member.study.slug])).content.decode()
    assert client.post(address).status_code == 302
    assert member.study.runs.filter(kind=removal.KIND).count() == 1

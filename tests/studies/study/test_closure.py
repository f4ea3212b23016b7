"""Archive, restore and delete a study: who may, what stands in the way, and what is left."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from annotation.enums import AssignmentState, CampaignState
from annotation.models import AssignmentPayment
from crowdrag.audit.models import AccessLogEntry
from crowdrag.jobs import lifecycle, run_files
from crowdrag.operations.models import Removal
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.studies.study import deletion, services
from crowdrag.studies.study.closure import Closure, StudyInUseError, obstacles
from tests.factories import (
    NOW,
    AssignmentFactory,
    MembershipFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StudyFactory,
    TopicFactory,
    WritingTaskFactory,
)
from writing.models import TaskPayment

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> tuple[Client, Study]:
    membership = MembershipFactory(role=Role.OWNER)
    client.force_login(membership.user)
    return client, membership.study


def address(name: str, study: Study) -> str:
    return reverse(name, args=[study.slug])


def test_an_archived_study_is_read_and_not_changed_until_it_is_restored(owner: tuple[Client, Study]) -> None:
    client, study = owner
    assert client.post(address("study_archive", study)).status_code == 302
    assert [entry.pk for entry in client.get(reverse("studies")).context["studies"]] == []
    assert [entry.pk for entry in client.get(reverse("studies"), {"archived": "1"}).context["studies"]] == [study.pk]
    assert client.get(address("topics", study)).status_code == 200
    assert client.post(address("import_paste", study), {"questions": "Why?"}).status_code == 403
    changed = client.patch(address("api_study", study), {"title": "x"}, content_type="application/json")
    assert changed.status_code == 409
    assert client.post(address("study_restore", study)).status_code == 302
    assert client.post(address("import_paste", study), {"questions": "Why?"}).status_code == 302


def test_archiving_again_keeps_who_and_when() -> None:
    membership = MembershipFactory(role=Role.OWNER)
    services.archive(study=membership.study, by=membership.user, now=NOW)
    again = services.archive(study=membership.study, by=MembershipFactory().user)
    assert (again.archived_at, again.archived_by) == (NOW, membership.user)


def test_only_owners_archive_restore_and_delete(client: Client) -> None:
    membership = MembershipFactory(role=Role.EDITOR)
    client.force_login(membership.user)
    assert client.get(address("study_manage", membership.study)).status_code == 200
    for name in ("study_archive", "study_restore", "study_delete"):
        assert client.post(address(name, membership.study)).status_code == 403


def test_work_in_progress_stands_in_the_way_of_both() -> None:
    study = StudyFactory()
    WritingTaskFactory(topic=TopicFactory(study=study), claimed=True)
    lifecycle.start(study=study, kind="export.archive")
    AssignmentFactory(
        questionnaire__campaign__study=study, questionnaire__campaign__state=CampaignState.CLOSED,
        state=AssignmentState.ASSIGNED,
    )  # fmt: skip
    for closure in Closure:
        assert len(obstacles(study, closure)) == 3
    with pytest.raises(StudyInUseError):
        services.archive(study=study, by=MembershipFactory().user)


def test_a_study_in_which_somebody_was_paid_is_archived_and_not_deleted() -> None:
    membership = MembershipFactory(role=Role.OWNER)
    study = membership.study
    task = WritingTaskFactory(topic=TopicFactory(study=study), claimed=True)
    TaskPayment.objects.create(task=task, amount=0, reason="nothing", at=NOW)
    type(task).objects.filter(pk=task.pk).update(state="ACCEPTED", lease_until=None, submitted_at=NOW)
    assert obstacles(study, Closure.DELETE) == []
    TaskPayment.objects.create(task=task, amount=250, reason="accepted", at=NOW)
    assert obstacles(study, Closure.ARCHIVE) == []
    with pytest.raises(StudyInUseError):
        services.request_deletion(study=study, confirmation=study.slug, by=membership.user)


def test_payments_of_judges_count_and_those_of_a_simulated_crowd_do_not() -> None:
    study = StudyFactory()
    assignment = AssignmentFactory(questionnaire__campaign__study=study, participant__is_simulated=True)
    AssignmentPayment.objects.create(assignment=assignment, amount=100, reason="accepted", at=NOW)
    assert obstacles(study, Closure.DELETE) == []
    type(assignment.participant).objects.filter(pk=assignment.participant_id).update(is_simulated=False)
    assert len(obstacles(study, Closure.DELETE)) >= 1


def test_a_deletion_needs_the_short_name_and_is_nobodys_from_then_on(owner: tuple[Client, Study]) -> None:
    client, study = owner
    refused = client.post(address("study_delete", study), {"confirmation": "another"})
    assert refused.status_code == 422
    assert "confirmation" in refused.context["form"].errors
    assert client.post(address("study_delete", study), {"confirmation": study.slug}).url == reverse("studies")
    assert client.get(address("study", study)).status_code == 404
    assert client.get(address("api_study", study)).status_code == 404
    assert Study.objects.filter(pk=study.pk).exists()


def test_a_deleted_study_goes_with_its_rows_and_files_and_leaves_a_record(
    django_capture_on_commit_callbacks,
) -> None:
    membership, other = MembershipFactory(role=Role.OWNER), ResponseFactory()
    study = membership.study
    responses = [ResponseFactory(topic=TopicFactory(study=study)) for _ in range(3)]
    RetrievedPassageFactory(topic=responses[0].topic)
    upload = run_files.store_upload(study=study, source=ContentFile(b"text", name="a.txt"))
    assert default_storage.exists(upload.file.name)
    AccessLogEntry.objects.create(at=NOW, by=membership.user, study=study, content="PEOPLE", page="topic")
    services.request_deletion(study=study, confirmation=study.slug, by=membership.user, now=NOW)
    # Bit by bit: a process that is killed leaves the rest to the next.
    with django_capture_on_commit_callbacks(execute=True):
        while deletion.remove_requested(NOW, max_rows=2):
            pass
    assert not default_storage.exists(upload.file.name)
    assert not Study.objects.filter(pk=study.pk).exists()
    assert type(other).objects.filter(pk=other.pk).exists()
    assert AccessLogEntry.objects.filter(study=study.pk).count() == 1
    assert [(removal.by, removal.study_slug) for removal in Removal.objects.all()] == [(membership.user, study.slug)]


def test_every_table_with_rows_of_a_study_is_emptied_before_those_that_it_refers_to() -> None:
    tables = [model for model, _path in deletion.study_tables()]
    order = {model: position for position, model in enumerate(tables)}
    assert len(tables) > 60
    for model in tables:
        for field in model._meta.concrete_fields:
            target = field.related_model
            if target in order and target is not model:
                assert order[model] < order[target], (model, target)

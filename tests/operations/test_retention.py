"""What is removed: shown first, then removed, and noted."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowdrag.accounts import login_limits
from crowdrag.accounts.models import SignInFailure
from crowdrag.audit import services
from crowdrag.audit.models import AccessLogEntry
from crowdrag.jobs import run_files
from crowdrag.jobs.models import Run, Upload
from crowdrag.operations import retention
from crowdrag.operations.models import Machine, Removal
from crowdrag.studies.enums import AuditedContent, ParticipantKind
from crowdrag.studies.models import Participant
from crowdrag.webhooks.enums import Event
from crowdrag.webhooks.models import Message
from tests.concurrency import uncommitted
from tests.factories import ParticipantFactory, ResponseFactory, StudyFactory, UserFactory
from writing.models import Response

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Any:
    user = UserFactory(is_staff=True, is_superuser=True)
    client.force_login(user)
    return user


def old_things() -> None:
    now, user = timezone.now(), UserFactory()
    for age in (timedelta(days=4 * 365), timedelta(days=500), timedelta(0)):
        services.record_access(by=user, study=StudyFactory(), content=AuditedContent.LOG, page="replay", now=now - age)
        login_limits.guard(account="a@example.org", address="198.51.100.1", check=lambda: None, now=now - age)
        Machine.objects.create(name=f"of {age}", at=now - age)
        Session.objects.create(session_key=f"k{age.days}", session_data="", expire_date=now - age + timedelta(hours=1))
    Message.objects.create(study=StudyFactory(), event=Event.TEST, body="{}", created_at=now - timedelta(days=31))


def test_looking_removes_nothing_and_removing_removes_what_was_seen(client: Client, operator: Any) -> None:
    old_things()
    page = client.get(reverse("operations_retention"))
    found = {row.rule.name: row.rows for row in page.context["found"]}
    assert found == {"sessions": 2, "failures": 2, "looks": 1, "machines": 2, "uploads": 0, "messages": 1}
    assert (AccessLogEntry.objects.count(), SignInFailure.objects.count(), Machine.objects.count()) == (3, 3, 3)
    for rule, rows in found.items():
        client.post(reverse("operations_remove"), {"rule": rule, "until": page.context["until"]})
        removal = Removal.objects.get(rule=rule)
        assert (removal.by, sum(removal.rows.values())) == (operator, rows)
    assert (AccessLogEntry.objects.count(), SignInFailure.objects.count(), Machine.objects.count()) == (2, 1, 1)
    assert [row.rows for row in retention.preview_rules(now=timezone.now())] == [0] * len(retention.RULES)


@pytest.mark.django_db(transaction=True)
def test_an_old_file_goes_with_its_row_unless_its_study_is_at_work(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    now, busy = timezone.now(), StudyFactory()
    Run.objects.create(study=busy, kind="import.responses", code_version="1", created_at=now)
    for study, age in ((busy, 400), (StudyFactory(), 400), (StudyFactory(), 300)):
        run_files.store_upload(study=study, source=ContentFile(b"{}", name="a.jsonl"), now=now - timedelta(days=age))
    removal = retention.remove_by_rule(name="uploads", until=now, by=UserFactory(), now=now)
    assert removal.rows == {"jobs.Upload": 1}
    left = {Path(upload.file.path) for upload in Upload.objects.all()}
    assert len(left) == 2
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == left


def test_what_became_old_since_it_was_looked_at_stays(operator: Any) -> None:
    now = timezone.now()
    Machine.objects.create(name="since", at=now - retention.MACHINES_KEPT)
    removal = retention.remove_by_rule(name="machines", until=now - timedelta(minutes=1), by=operator, now=now)
    assert removal.rows == {}
    # Nobody can name a time to come either.
    retention.remove_by_rule(name="machines", until=now + timedelta(days=999), by=operator, now=now)
    assert Machine.objects.count() == 1


@pytest.mark.parametrize("given", [{}, {"rule": "everything", "until": "2026-01-01T00:00:00+00:00"}, {"rule": "looks"}])
def test_what_is_no_rule_removes_nothing(client: Client, operator: Any, given: dict[str, str]) -> None:
    old_things()
    assert client.post(reverse("operations_remove"), given).status_code == 302
    assert not Removal.objects.exists()
    assert AccessLogEntry.objects.count() == 3


def test_a_removal_is_written_once(operator: Any) -> None:
    removal = retention.remove_by_rule(name="machines", until=timezone.now(), by=operator, now=timezone.now())
    for change in (lambda: Removal.objects.update(rule="other"), removal.delete):
        with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic():
            change()


def test_an_erasure_is_rehearsed_and_nothing_of_it_stays(client: Client, operator: Any) -> None:
    response = ResponseFactory(text="Words like no others [0].")
    person = response.participant
    named = {"study": person.study.slug, "pseudonym": person.external_id}
    page = client.get(reverse("operations_erase"), named)
    assert page.status_code == 200
    assert page.context["effect"]["writing_response"]["changed"] >= 1
    response.refresh_from_db()
    person.refresh_from_db()
    assert (response.text, person.erased_at, person.withdrawn_at) == ("Words like no others [0].", None, None)
    assert not Removal.objects.exists()


def test_a_wrong_study_and_a_wrong_pseudonym_are_told_apart(client: Client, operator: Any) -> None:
    person = ResponseFactory().participant
    named = {"study": person.study.slug, "pseudonym": person.external_id}
    for field in named:
        page = client.get(reverse("operations_erase"), named | {field: "nothing"})
        assert (page.status_code, set(page.context["form"].errors)) == (422, {field})
    here = [each["url"] for each in page.context["dashboards"] if each["is_here"]]
    assert here == [reverse("operations_retention")]


def test_an_erasure_wants_the_pseudonym_once_more(client: Client, operator: Any) -> None:
    response = ResponseFactory(text="Words like no others [0].")
    person = response.participant
    named = {"study": person.study.slug, "pseudonym": person.external_id}
    assert client.post(reverse("operations_erase"), named | {"again": "another"}).status_code == 422
    assert not Participant.objects.get(pk=person.pk).erased_at
    rehearsed = retention.rehearse_erasure(participant=person, now=timezone.now())
    assert client.post(reverse("operations_erase"), named | {"again": person.external_id}).status_code == 302
    assert Participant.objects.get(pk=person.pk).erased_at
    assert "Words" not in Response.objects.get(pk=response.pk).text
    removal = Removal.objects.get()
    assert (removal.rule, removal.study_slug) == (retention.ERASURE_RULE, person.study.slug)
    deleted = {table: counts["deleted"] for table, counts in rehearsed.items() if counts["deleted"]}
    assert removal.rows == deleted
    assert person.external_id not in str(removal.rows)
    # Once more is nothing: the tombstone is shown.
    assert client.get(reverse("operations_erase"), named).status_code == 200
    assert Removal.objects.count() == 1


def test_models_and_strangers_are_not_erased_here(client: Client, operator: Any) -> None:
    model = ParticipantFactory(kind=ParticipantKind.MODEL)
    for given in ({"study": model.study.slug, "pseudonym": model.external_id}, {"study": "no", "pseudonym": "one"}):
        assert client.get(reverse("operations_erase"), given).status_code == 422


@pytest.mark.django_db(transaction=True)
def test_a_rehearsal_does_not_wait_for_somebody_at_work() -> None:
    person = ParticipantFactory()
    with (
        uncommitted(lambda: Participant.objects.select_for_update().get(pk=person.pk)),
        pytest.raises(retention.ErasureBusyError),
    ):
        retention.rehearse_erasure(participant=person, now=timezone.now())


def test_what_studies_promised_is_listed_with_their_people(client: Client, operator: Any) -> None:
    study = StudyFactory(slug="promised", retention="Ten years, then it goes.")
    now = timezone.now()
    ParticipantFactory(study=study)
    ParticipantFactory(study=study, withdrawn_at=now)
    ParticipantFactory(study=study, withdrawn_at=now, erased_at=now)
    row = next(row for row in retention.study_promises() if row["study"] == study)
    assert (row["people"], row["withdrawn"], row["erased"]) == (2, 1, 1)
    assert "Ten years, then it goes." in client.get(reverse("operations_retention")).content.decode()

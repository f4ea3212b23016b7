"""The operator's dashboards: who sees them, what they say, and what they cost."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.enums import ReleaseState
from analysis.models import Release, ReleaseFile
from crowdrag.accounts import login_limits
from crowdrag.audit import services
from crowdrag.jobs.models import Run, WorkerHeartbeat
from crowdrag.operations.models import Machine
from crowdrag.operations.views import PAGES
from crowdrag.studies.enums import AuditedContent
from tests.factories import ParticipantFactory, StudyFactory, UserFactory
from tests.operations.full_system import busy

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize("name", [*PAGES, "operations_erase", "metrics"])
def test_a_dashboard_opens_for_operators_alone_with_the_same_queries_for_one_and_three(
    operator: Client, name: str
) -> None:
    if name != "metrics":  # who may read those is in test_metrics.py
        member = Client()
        assert member.get(reverse(name)).status_code == 302
        member.force_login(UserFactory())
        assert member.get(reverse(name)).status_code == 403
    counts = []
    for more in (0, 1, 2):
        busy(more)
        operator.get(reverse(name))  # what is looked up once and kept
        with CaptureQueriesContext(connection) as queries:
            assert operator.get(reverse(name)).status_code == 200
        counts.append(len(queries))
    assert counts[1] == counts[2]


def test_the_first_page_warns_of_what_is_wrong(operator: Client) -> None:
    busy(1)
    Machine.objects.update(at=timezone.now() - timedelta(hours=1))
    page = operator.get(reverse("operations"))
    tones = {tile.url_name: tile.tone for tile in page.context["tiles"]}
    # A worker that vanished and a unit that failed, a machine that is silent, and no backup.
    wrong = {name for name, tone in tones.items() if tone in {"bad", "warn"}}
    assert wrong >= {"operations_work", "operations_machines", "operations_backups"}
    assert 'rel="icon"' in page.content.decode()
    WorkerHeartbeat.objects.all().delete()
    assert any(queue.is_deserted for queue in operator.get(reverse("operations_services")).context["queues"])


def test_work_that_hangs_is_named_and_what_failed_is_not_run(operator: Client) -> None:
    busy(1)
    page = operator.get(reverse("operations_work")).content.decode()
    assert page.count('<th scope="row"><a') == 3  # vanished, waiting, failed; slow is not what took as long as ever
    assert "gone" in page
    assert "<b>no</b>" not in page


def test_files_of_releases_are_counted_and_what_keeps_them_is_named(operator: Client) -> None:
    study = StudyFactory(slug="tides")
    release = Release.objects.create(
        study=study,
        number=1,
        title="Tides",
        state=ReleaseState.BUILDING,
        run=Run.objects.create(study=study, kind="release.build", code_version="1", created_at=timezone.now()),
        created_at=timezone.now(),
    )
    there, gone = (
        ReleaseFile.objects.create(release=release, path=name, size=700, sha256="0" * 64, file=f"releases/{name}")
        for name in ("there", "gone")
    )
    ReleaseFile.objects.filter(pk=gone.pk).update(file="", removed_at=timezone.now())
    answer = operator.get(reverse("operations_disk"))
    (row,) = answer.context["files"]
    assert (row["slug"], row["released"], row["released_n"]) == ("tides", there.size, 1)
    assert answer.context["storage"] == "FileSystemStorage"


def test_the_disk_warns_below_the_reserve(operator: Client, settings: Any) -> None:
    def tone() -> str:
        tiles = operator.get(reverse("operations")).context["tiles"]
        return next(tile.tone for tile in tiles if tile.url_name == "operations_disk")

    disks = operator.get(reverse("operations_disk")).context["disks"]
    # Where uploads arrive, too.
    assert {name for disk in disks for name in disk["names"]} == {"data", "files", "uploads"}
    is_roomy = not any(disk["is_nearly_full"] for disk in disks)
    assert (tone() == "good") == is_roomy
    settings.DISK_RESERVE = max(disk["total"] for disk in disks)
    assert tone() == "bad"
    assert all(disk["is_below_reserve"] for disk in operator.get(reverse("operations_disk")).context["disks"])


def test_the_trail_is_filtered_and_taken_along(operator: Client) -> None:
    busy(3)
    person = ParticipantFactory(external_id="=HYPERLINK(1)")
    mine = UserFactory(email="reader@example.org")
    services.record_access(
        by=mine, study=person.study, content=AuditedContent.RESPONSE, page="response", participant=person.pk, work_key=7
    )
    today = timezone.localdate().isoformat()
    for query, rows in (
        ({}, 4),
        ({"user": "READER@example.org"}, 1),
        ({"user": "nobody@example.org"}, 0),
        ({"study": person.study.slug}, 1),
        ({"what": "LOG"}, 3),
        ({"participant": "=HYPERLINK(1)"}, 1),
        ({"since": today, "until": today}, 4),
        ({"until": "2020-01-01"}, 0),
        ({"since": "nonsense"}, 4),
    ):
        page = operator.get(reverse("operations_access_log"), query)
        assert page.context["page"].paginator.count == rows, query
        lines = operator.get(reverse("operations_access_log_file"), query).content.decode().splitlines()
        assert len(lines) == rows + 1, query
    assert (
        ",'=HYPERLINK(1),7"
        in operator.get(reverse("operations_access_log_file"), {"user": mine.email}).content.decode()
    )


def test_failed_sign_ins_are_listed_without_what_was_typed(operator: Client) -> None:
    user = UserFactory(email="known@example.org")
    for account in (user.email, "a-password-perhaps"):
        login_limits.guard(account=account, address="198.51.100.7", check=lambda: None)
    page = operator.get(reverse("operations_sign_ins")).content.decode()
    assert "known@example.org" in page
    assert "a-password-perhaps" not in page
    content = operator.get(reverse("operations_sign_ins_file"), {"user": user.email}).content.decode()
    assert len(content.splitlines()) == 2


def test_spend_is_shown_by_period(operator: Client) -> None:
    StudyFactory(slug="rich", llm_budget=12_345)
    for period in ("day", "month", "all", "nonsense"):
        page = operator.get(reverse("operations_spend"), {"period": period}).content.decode()
        assert "123.45" in page

"""The pages of runs."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crowdrag.jobs import completion, kinds, leases, lifecycle, run_files, worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run, WorkerHeartbeat
from crowdrag.jobs.views import latest_runs
from crowdrag.operations import service_status
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
CANCEL = 'data-opens="#cancel"'


@pytest.fixture
def editor(study: Study, client: Client) -> Client:
    client.force_login(MembershipFactory(study=study, role=Role.EDITOR).user)
    return client


@pytest.fixture
def viewer(study: Study) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=Role.VIEWER).user)
    return client


def start(study: Study, kind: str = "tiny", **parameters: object) -> Run:
    return lifecycle.start(study=study, kind=f"test.{kind}", parameters={"seconds": 0} | parameters)


def url(name: str, run: Run, *more: str) -> str:
    return reverse(name, args=[run.study.slug, run.key, *more])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_list_filters_and_pages(viewer: Client, study: Study) -> None:
    def shown(**asked: object) -> tuple[int, int]:
        """How many runs the page shows, and how many there are."""
        page = viewer.get(reverse("runs", args=[study.slug]), asked).context
        newest = [row["run"].pk for row in page["rows"]]
        assert newest == sorted(newest, reverse=True)
        return len(newest), page["page"].paginator.count if newest else 0

    assert shown() == (0, 0)
    for _ in range(26):
        start(study)
    Run.objects.filter(pk=start(study).pk).update(kind="old.kind")  # which nobody knows any more
    lifecycle.cancel(run=start(study, "slow"))
    assert (shown(), shown(page=2)) == ((25, 28), (3, 28))
    assert shown(kind="test.slow") == shown(state="CANCELLED") == shown(kind="old.kind") == (1, 1)
    assert (shown(state="PLANNED", kind="test.tiny"), shown(state="FAILED")) == ((25, 26), (0, 0))


def test_the_list_the_home_card_and_the_services_page_ask_as_often_for_three_runs_as_for_one(study: Study) -> None:
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    counts = []
    for more in (1, 2):
        for _ in range(more):
            run = start(study, units=2)
            leases.claim(worker="gone", run=run)
        run.units.update(due_at=timezone.now())
        with CaptureQueriesContext(connection) as queries:
            pages = (reverse("services"), *(reverse(name, args=[study.slug]) for name in ("study", "runs")))
            assert [client.get(page).status_code for page in pages] == [200] * 3
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_active_run_is_asked_after_and_one_that_is_over_is_not(editor: Client, study: Study) -> None:
    run = start(study, units=4)
    worker.work_next(run)
    page = editor.get(url("run", run))
    assert page.context["progress"].done == 1
    assert f'hx-get="{url("run_progress", run)}"' in text(page)
    assert CANCEL in text(page)
    moving = editor.get(url("run_progress", run))
    assert "HX-Refresh" not in moving
    assert "every 2s" in text(moving)
    assert "<html" not in text(moving)
    while worker.work_next(run):
        pass
    moving = editor.get(url("run_progress", run))
    assert moving["HX-Refresh"] == "true"
    assert "hx-get" not in text(moving)
    page = text(editor.get(url("run", run)))
    assert not [each for each in ("hx-get", CANCEL, url("run_resume", run)) if each in page]


def test_a_run_says_what_it_waits_for(editor: Client, study: Study) -> None:
    def said() -> tuple[str, bool]:
        """What is waited for, and whether the other run is named with a link."""
        page = text(editor.get(url("run_progress", run)))
        found = re.search(r'data-waits-for="(\w+)"', page)
        return found[1] if found else "", url("run", other) in page

    run, other = start(study), start(study)
    assert said() == ("NO_WORKER", False)
    assert leases.claim(worker="w", run=other) is not None
    assert said() == ("NO_WORKER", False)  # nobody can be waited for
    WorkerHeartbeat.objects.create(name="w", queue=run.queue, at=timezone.now())
    assert said() == ("OTHERS", True)
    run.units.update(due_at=timezone.now() + timedelta(minutes=5))
    assert said() == ("RETRY", False)  # it is tried again later, whoever is free
    run.units.update(due_at=timezone.now())
    other.units.update(lease_until=timezone.now() - timedelta(minutes=5))
    assert said() == ("WORKER", False)  # that one is gone
    assert leases.claim(worker="w", run=run) is not None
    assert said() == ("", False)


def test_a_worker_that_starts_for_work_is_missing_only_after_a_while(
    editor: Client, study: Study, settings: Any
) -> None:
    settings.ON_DEMAND_QUEUES = frozenset({"default"})
    run = start(study)
    assert 'data-waits-for="WORKER"' in text(editor.get(url("run_progress", run)))
    assert not service_status.queues(now=timezone.now())[0].is_deserted
    run.units.update(due_at=timezone.now() - timedelta(minutes=1))
    assert 'data-waits-for="NO_WORKER"' in text(editor.get(url("run_progress", run)))
    assert service_status.queues(now=timezone.now())[0].is_deserted


def test_the_bar_moves_with_every_answer_and_not_with_every_unit(editor: Client, study: Study) -> None:
    run = start(study, units=2)
    unit = leases.claim(worker="w", run=run)
    assert unit is not None
    for done, percent in ((0, 0), (5, 25), (8, 40)):
        leases.renew(unit, done=done, total=10, message="asking")
        assert re.search(rf'<progress max="100" value="{percent}"', text(editor.get(url("run_progress", run))))


def test_cancel_and_resume_by_an_editor(editor: Client, viewer: Client, study: Study) -> None:
    run = start(study)

    def press(name: str) -> list[str]:
        """What the messages say after it: how serious they are."""
        return [message.level_tag for message in editor.post(url(name, run), follow=True).context["messages"]]

    assert CANCEL not in text(viewer.get(url("run", run)))
    assert press("run_cancel") == ["success"]
    run.refresh_from_db()
    assert (run.state, run.cancelled_by.memberships.get().role) == (RunState.CANCELLED, Role.EDITOR)
    assert press("run_cancel") == ["warning"]
    assert press("run_resume") == ["success"]
    run.refresh_from_db()
    assert run.is_active
    assert press("run_resume") == ["warning"]


def test_what_was_refused_and_what_failed_stands_on_the_page(editor: Client, study: Study) -> None:
    refused, failed = start(study, "rejecting", problems=3), start(study, "failing")
    failed.units.update(attempts=2)
    for run in (refused, failed):
        worker.work_next(run)
    failed.units.update(message="Why do tides differ?, Essay")
    page = text(editor.get(url("run", refused)))
    assert (page.count("a.jsonl"), 'data-testid="problems"' in page) == (3, True)
    assert url("run_resume", refused) not in page  # the same input would be refused again
    page = text(editor.get(url("run", failed)))
    assert "OSError: the disk is on fire" in page
    assert "Why do tides differ?, Essay" in page  # what the unit was at, by name


def test_a_run_is_named_by_what_it_is_about_and_says_what_to_do(
    editor: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name(runs: list[Run]) -> dict[int, str]:
        return {run.pk: f"campaign {run.parameters['units']}" for run in runs}

    monkeypatch.setitem(kinds._kinds, "test.tiny", replace(kinds.get("test.tiny"), subjects=name))
    run = start(study, units=3)
    page = editor.get(url("run", run))
    assert page.context["subject"] == "campaign 3"
    assert 'data-testid="advice"' not in text(page)
    assert "campaign 3" in text(editor.get(reverse("runs", args=[study.slug])))
    for state in (RunState.FAILED, RunState.CANCELLED):
        Run.objects.update(state=state, finished_at=timezone.now())
        assert 'data-testid="advice"' in text(editor.get(url("run", run)))


def test_what_kinds_made_up_is_escaped(editor: Client, study: Study) -> None:
    bad = "<script>alert(1)</script>"
    run = start(study, x=bad, y={"z": [bad]})
    unit = leases.claim(worker="a", run=run)
    lifecycle.note(run=run, summary={bad: bad}, inputs_digest="d1g35t")
    completion.reject(unit, rejected=kinds.InputRejectedError([{bad: bad, "message": bad}]))
    lifecycle.mark_stale(run=run, reason=bad)
    page = editor.get(url("run", run)).content.decode()
    assert bad not in page
    assert page.lower().count("&lt;script&gt;alert(1)") >= 7
    for made_by in ("d1g35t", run.code_version, str(run.key), "Django"):
        assert made_by in page


def test_the_result_is_linked_when_it_is_there(editor: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    where = "/r/{0.pk}".format
    kind = kinds.Kind(name="test.linked", title="Linked", work=lambda _work: None, result_url=where)
    monkeypatch.setitem(kinds._kinds, kind.name, kind)
    run = start(study, "linked")
    assert f'href="/r/{run.pk}"' not in text(editor.get(url("run", run)))
    worker.work_next(run)
    assert f'href="/r/{run.pk}"' in text(editor.get(url("run", run)))


def test_who_waits_for_a_run_is_led_on_unless_it_warns(
    editor: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    kind = kinds.Kind(
        name="test.leading", title="Leading", work=lambda _work: None, result_url="/r/{0.pk}".format, leads_on=True,
        warnings=lambda _run: found, internal=("secret",),
    )  # fmt: skip
    monkeypatch.setitem(kinds._kinds, kind.name, kind)
    run = start(study, "leading")
    worker.work_next(run)
    Run.objects.filter(pk=run.pk).update(summary={"shown": 1, "secret": 2})
    assert editor.get(url("run_progress", run))["HX-Redirect"] == f"/r/{run.pk}"
    found.append("Something is missing")
    assert "HX-Redirect" not in editor.get(url("run_progress", run))
    page = editor.get(url("run", run))
    assert (page.context["warnings"], page.context["summary"]) == (found, {"shown": 1})


@pytest.fixture
def file(study: Study, files: Path, tmp_path: Path) -> Run:
    run = start(study)
    path = tmp_path / "made"
    path.write_bytes(b"0123456789")
    run_files.publish_artifact(run=run, name="digits.txt", path=path, media_type="text/html")
    return run


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def test_a_file_comes_as_a_download(viewer: Client, file: Run) -> None:
    assert "digits.txt" in text(viewer.get(url("run", file)))
    response = viewer.get(url("run_file", file, "digits.txt"))
    assert response["Content-Disposition"] == 'attachment; filename="digits.txt"'
    assert response["Content-Length"] == "10"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert body(response) == b"0123456789"
    assert viewer.get(url("run_file", file, "other.txt")).status_code == 404
    Path(file.artifacts.get().file.path).unlink()
    assert viewer.get(url("run_file", file, "digits.txt")).status_code == 404


def test_a_part_of_a_file_is_sent_as_it_was_asked_for(viewer: Client, file: Run) -> None:
    whole = b"0123456789"
    for asked, status, content, where in (
        ("bytes=3-5", 206, b"345", "bytes 3-5/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=7-99", 206, b"789", "bytes 7-9/10"),
        ("bytes=-4", 206, b"6789", "bytes 6-9/10"),
        ("bytes=-99", 206, whole, "bytes 0-9/10"),
        *((none, 416, b"", "bytes */10") for none in ("bytes=10-", "bytes=-0", "bytes=5-3")),
        *((odd, 200, whole, None) for odd in ("bytes=-", "lines=1-2", "bytes=0-1,3-4", "bytes=a-b")),
    ):
        response = viewer.get(url("run_file", file, "digits.txt"), headers={"Range": asked})
        assert (response.status_code, response.get("Content-Range")) == (status, where), asked
        assert status == 416 or (body(response), response["Content-Length"]) == (content, str(len(content))), asked


def test_a_download_goes_on_only_with_the_same_file(viewer: Client, file: Run) -> None:
    address = url("run_file", file, "digits.txt")
    etag = viewer.get(address)["ETag"]
    part = {"Range": "bytes=8-"}
    assert body(viewer.get(address, headers={**part, "If-Range": etag})) == b"89"
    assert body(viewer.get(address, headers={**part, "If-Range": '"other"'})) == b"0123456789"
    assert viewer.get(address, headers={"If-None-Match": etag}).status_code == 304


def test_operators_see_workers_queues_and_what_hangs(study: Study) -> None:
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    assert not client.get(reverse("services")).context["beats"]
    now = timezone.now()
    WorkerHeartbeat.objects.create(name="worker@here", queue="llm", at=now)
    WorkerHeartbeat.objects.create(name="worker@gone", queue="gpu", at=now - timedelta(hours=1))
    run = start(study, units=3)
    claimed = leases.claim(worker="vanished:1:1", run=run)
    run.units.filter(pk=claimed.pk).update(lease_until=now - timedelta(minutes=5))
    page = client.get(reverse("services"))
    assert {row["beat"].name: row["fresh"] for row in page.context["beats"]} == {
        "worker@here": True, "worker@gone": False,
    }  # fmt: skip
    due = [(each["name"], bool(each["served"])) for each in page.context["queues"] if each.get("due")]
    assert due == [("default", False)]
    assert "vanished:1:1" in text(page)


def test_the_home_card_shows_the_latest_that_somebody_started(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = kinds.Kind(name="test.automatic", title="Automatic", work=lambda _work: None, is_automatic=True)
    monkeypatch.setitem(kinds._kinds, kind.name, kind)
    runs = [start(study) for _ in range(7)]
    start(study, "automatic")
    shown = [row["run"].pk for row in latest_runs(study)["runs"]]
    assert shown == [run.pk for run in reversed(runs)][:5]


def test_operators_admin_lists_and_changes_nothing(study: Study) -> None:
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    run = start(study)
    for name in ("run", "unit", "artifact", "upload", "workerheartbeat"):
        assert client.get(reverse(f"admin:jobs_{name}_changelist")).status_code == 200
        assert client.get(reverse(f"admin:jobs_{name}_add")).status_code == 403
    assert client.get(reverse("admin:jobs_run_change", args=[run.pk])).status_code == 200
    assert client.post(reverse("admin:jobs_run_change", args=[run.pk]), {"seed": 5}).status_code == 403

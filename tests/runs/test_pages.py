"""The pages of runs."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crowdrag.runs import kinds
from crowdrag.runs.domain import artifacts, claiming, concluding, executing, running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run, WorkerBeat
from crowdrag.runs.views.card import latest_runs
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db


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
    return running.start(study=study, kind=f"test.{kind}", parameters={"seconds": 0} | parameters)


def url(name: str, run: Run, *more: str) -> str:
    return reverse(name, args=[run.study.slug, run.key, *more])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_list_says_when_it_is_empty(viewer: Client, study: Study) -> None:
    response = viewer.get(reverse("runs", args=[study.slug]))
    assert "No runs yet" in text(response)


def test_the_list_filters_and_pages(viewer: Client, study: Study) -> None:
    for _ in range(26):
        start(study)
    running.cancel(run=start(study, "slow"))
    address = reverse("runs", args=[study.slug])
    assert "1 to 25 of 27" in text(viewer.get(address))
    assert "26 to 27 of 27" in text(viewer.get(address, {"page": 2}))
    assert viewer.get(address, {"kind": "test.slow"}).context["page"].paginator.count == 1
    assert viewer.get(address, {"state": "CANCELLED"}).context["page"].paginator.count == 1
    assert viewer.get(address, {"state": "PLANNED", "kind": "test.tiny"}).context["page"].paginator.count == 26
    assert "No such run" in text(viewer.get(address, {"state": "FAILED"}))
    newest = [row["run"].pk for row in viewer.get(address).context["rows"]]
    assert newest == sorted(newest, reverse=True)


def test_the_list_asks_as_often_for_three_runs_as_for_one(viewer: Client, study: Study) -> None:
    address = reverse("runs", args=[study.slug])
    counts = []
    for more in (1, 2):
        for _ in range(more):
            running.start(study=study, kind="test.tiny", parameters={"units": 3}, by=UserFactory())
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert viewer.get(address).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_home_card_and_the_services_page_ask_as_often_for_three_runs_as_for_one(study: Study) -> None:
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    counts = []
    for more in (1, 2):
        for _ in range(more):
            run = start(study, units=2)
            claiming.claim(worker="gone", run=run)
        run.units.update(due_at=timezone.now())
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse("services")).status_code == 200
            assert client.get(reverse("study", args=[study.slug])).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_active_run_is_asked_after_and_one_that_is_over_is_not(editor: Client, study: Study) -> None:
    run = start(study, units=4)
    executing.work_next(run)
    page = text(editor.get(url("run", run)))
    assert f'hx-get="{url("run_progress", run)}"' in page
    assert "1 of 4" in page
    assert "Cancel the run" in page
    moving = editor.get(url("run_progress", run))
    assert "HX-Refresh" not in moving
    assert "every 2s" in text(moving)
    assert "<html" not in text(moving)
    while executing.work_next(run):
        pass
    moving = editor.get(url("run_progress", run))
    assert moving["HX-Refresh"] == "true"
    assert "hx-get" not in text(moving)
    page = text(editor.get(url("run", run)))
    assert "hx-get" not in page
    assert "Cancel the run" not in page
    assert "Resume" not in page


def test_a_run_says_what_it_waits_for(editor: Client, study: Study) -> None:
    def said() -> tuple[str, bool]:
        """What is waited for, and whether the other run is named with a link."""
        page = text(editor.get(url("run_progress", run)))
        found = re.search(r'data-waits-for="(\w+)"', page)
        return found[1] if found else "", url("run", other) in page

    run, other = start(study), start(study)
    assert said() == ("NO_WORKER", False)
    assert claiming.claim(worker="w", run=other) is not None
    assert said() == ("NO_WORKER", False)  # nobody can be waited for
    WorkerBeat.objects.create(name="w", queue=run.queue, at=timezone.now())
    assert said() == ("OTHERS", True)
    run.units.update(due_at=timezone.now() + timedelta(minutes=5))
    assert said() == ("RETRY", False)  # it is tried again later, whoever is free
    run.units.update(due_at=timezone.now())
    other.units.update(lease_until=timezone.now() - timedelta(minutes=5))
    assert said() == ("WORKER", False)  # that one is gone
    assert claiming.claim(worker="w", run=run) is not None
    assert said() == ("", False)


def test_the_bar_moves_with_every_answer_and_not_with_every_unit(editor: Client, study: Study) -> None:
    run = start(study, units=2)
    unit = claiming.claim(worker="w", run=run)
    assert unit is not None
    for done, percent in ((0, 0), (5, 25), (8, 40)):
        claiming.renew(unit, done=done, total=10, message="asking")
        assert re.search(rf'<progress max="100" value="{percent}"', text(editor.get(url("run_progress", run))))


def test_cancel_and_resume_by_an_editor(editor: Client, viewer: Client, study: Study) -> None:
    run = start(study)
    assert viewer.post(url("run_cancel", run)).status_code == 403
    assert "Cancel the run" not in text(viewer.get(url("run", run)))
    assert editor.get(url("run_cancel", run)).status_code == 405
    assert "was cancelled" in text(editor.post(url("run_cancel", run), follow=True))
    run.refresh_from_db()
    assert (run.state, run.cancelled_by.memberships.get().role) == (RunState.CANCELLED, Role.EDITOR)
    assert "cancelled already" in text(editor.post(url("run_cancel", run), follow=True))
    assert viewer.post(url("run_resume", run)).status_code == 403
    assert "goes on where it stopped" in text(editor.post(url("run_resume", run), follow=True))
    run.refresh_from_db()
    assert run.is_active
    assert "only a run that failed" in text(editor.post(url("run_resume", run), follow=True))


def test_a_rejected_run_shows_its_problems_as_a_table(editor: Client, study: Study) -> None:
    run = start(study, "rejecting", problems=3)
    executing.work_next(run)
    page = text(editor.get(url("run", run)))
    assert "The input has 3 problems; nothing was changed." in page
    assert page.count("a.jsonl") == 3
    assert '<th scope="col">Expected</th>' in page
    assert url("run_resume", run) not in page  # the same input would be refused again


def test_a_failed_run_shows_which_units_failed(editor: Client, study: Study) -> None:
    run = start(study, "failing")
    run.units.update(attempts=2)
    executing.work_next(run)
    run.units.update(message="Why do tides differ?, Essay")
    page = text(editor.get(url("run", run)))
    assert "OSError: the disk is on fire" in page
    assert "Why do tides differ?, Essay" in page  # what the unit was at, by name


def test_what_kinds_made_up_is_escaped(editor: Client, study: Study) -> None:
    bad = "<script>alert(1)</script>"
    run = start(study, x=bad, y={"z": [bad]})
    unit = claiming.claim(worker="a", run=run)
    running.note(run=run, summary={bad: bad})
    concluding.reject(unit, rejected=kinds.Rejected([{bad: bad, "message": bad}]))
    running.mark_stale(run=run, reason=bad)
    page = editor.get(url("run", run)).content.decode()
    assert bad not in page
    assert page.lower().count("&lt;script&gt;alert(1)") >= 7


def test_a_run_says_what_made_it(editor: Client, study: Study) -> None:
    run = start(study, resamples=1000)
    running.note(run=run, inputs_digest="d1g35t")
    page = text(editor.get(url("run", run)))
    for words in ("Resamples", "1000", "d1g35t", run.code_version, str(run.key), "Django"):
        assert words in page


def test_a_kind_that_nobody_knows_any_more_is_shown_by_its_name(editor: Client, study: Study) -> None:
    run = start(study)
    Run.objects.filter(pk=run.pk).update(kind="old.kind")
    assert "old.kind" in text(editor.get(url("run", run)))
    assert "old.kind" in text(editor.get(reverse("runs", args=[study.slug])))


def test_the_result_is_linked_when_it_is_there(editor: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    where = "/r/{0.pk}".format
    kind = kinds.Kind(name="test.linked", title="Linked", work=lambda _work: None, result_url=where)
    monkeypatch.setitem(kinds._kinds, kind.name, kind)
    run = start(study, "linked")
    assert "See the result" not in text(editor.get(url("run", run)))
    executing.work_next(run)
    assert f'href="/r/{run.pk}"' in text(editor.get(url("run", run)))


@pytest.fixture
def file(study: Study, files: Path, tmp_path: Path) -> Run:
    run = start(study)
    path = tmp_path / "made"
    path.write_bytes(b"0123456789")
    artifacts.publish(run=run, name="digits.txt", path=path, media_type="text/html")
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
    assert Client().get(url("run_file", file, "digits.txt")).status_code == 302


@pytest.mark.parametrize(
    ("asked", "got", "said"),
    [
        ("bytes=3-5", b"345", "bytes 3-5/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=7-99", b"789", "bytes 7-9/10"),
        ("bytes=-4", b"6789", "bytes 6-9/10"),
        ("bytes=-99", b"0123456789", "bytes 0-9/10"),
    ],
)
def test_a_part_of_a_file(viewer: Client, file: Run, asked: str, got: bytes, said: str) -> None:
    response = viewer.get(url("run_file", file, "digits.txt"), headers={"Range": asked})
    assert (response.status_code, response["Content-Range"], body(response)) == (206, said, got)
    assert response["Content-Length"] == str(len(got))


@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=-0", "bytes=5-3"])
def test_a_part_that_is_not_there(viewer: Client, file: Run, asked: str) -> None:
    response = viewer.get(url("run_file", file, "digits.txt"), headers={"Range": asked})
    assert (response.status_code, response["Content-Range"]) == (416, "bytes */10")


@pytest.mark.parametrize("asked", ["bytes=-", "lines=1-2", "bytes=0-1,3-4", "bytes=a-b"])
def test_what_is_no_range_gets_the_whole(viewer: Client, file: Run, asked: str) -> None:
    response = viewer.get(url("run_file", file, "digits.txt"), headers={"Range": asked})
    assert (response.status_code, body(response)) == (200, b"0123456789")


def test_a_download_goes_on_only_with_the_same_file(viewer: Client, file: Run) -> None:
    address = url("run_file", file, "digits.txt")
    etag = viewer.get(address)["ETag"]
    part = {"Range": "bytes=8-"}
    assert body(viewer.get(address, headers={**part, "If-Range": etag})) == b"89"
    assert body(viewer.get(address, headers={**part, "If-Range": '"other"'})) == b"0123456789"
    assert viewer.get(address, headers={"If-None-Match": etag}).status_code == 304


def test_a_file_that_the_storage_lost_is_not_found(viewer: Client, file: Run) -> None:
    Path(file.artifacts.get().file.path).unlink()
    assert viewer.get(url("run_file", file, "digits.txt")).status_code == 404


def test_operators_see_workers_queues_and_what_hangs(study: Study) -> None:
    client = Client()
    client.force_login(UserFactory())
    assert client.get(reverse("services")).status_code == 403
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    assert "No worker has been heard of" in text(client.get(reverse("services")))
    now = timezone.now()
    WorkerBeat.objects.create(name="worker@here", queue="llm", at=now)
    WorkerBeat.objects.create(name="worker@gone", queue="gpu", at=now - timedelta(hours=1))
    run = start(study, units=3)
    claimed = claiming.claim(worker="vanished:1:1", run=run)
    run.units.filter(pk=claimed.pk).update(lease_until=now - timedelta(minutes=5))
    page = text(client.get(reverse("services")))
    for words in ("worker@here", "worker@gone", "alive", "silent", "nobody serves it", "vanished:1:1"):
        assert words in page


def test_the_home_card_shows_the_latest(study: Study) -> None:
    runs = [start(study) for _ in range(7)]
    shown = [row["run"].pk for row in latest_runs(study)["runs"]]
    assert shown == [run.pk for run in reversed(runs)][:5]


def test_operators_admin_lists_and_changes_nothing(study: Study) -> None:
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    run = start(study)
    for name in ("run", "unit", "artifact", "upload", "workerbeat"):
        assert client.get(reverse(f"admin:runs_{name}_changelist")).status_code == 200
        assert client.get(reverse(f"admin:runs_{name}_add")).status_code == 403
    assert client.get(reverse("admin:runs_run_change", args=[run.pk])).status_code == 200
    assert client.post(reverse("admin:runs_run_change", args=[run.pk]), {"seed": 5}).status_code == 403

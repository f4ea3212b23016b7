"""What must be true of runs is a constraint of the database; each is tried."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Artifact, Run, Unit, Upload, WorkerHeartbeat
from crowdrag.studies.models import Study
from tests.analysis.cases import check_each
from tests.factories import NOW

pytestmark = pytest.mark.django_db
SUM = "0" * 64


def check_updates(rows: QuerySet[Any], cases: list[tuple[str, dict[str, Any]]]) -> None:
    def check(constraint: str, fields: dict[str, Any]) -> None:
        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            rows.update(**fields)

    check_each(cases, check)


def test_rules_of_runs_and_units(study: Study) -> None:
    run = lifecycle.start(study=study, kind="test.tiny", parameters={"units": 2}, now=NOW)
    check_updates(
        Run.objects.filter(pk=run.pk),
        [
            ("run_state_known", {"state": "LOST", "finished_at": NOW}),
            ("run_queue_known", {"queue": "fast"}),
            ("run_kind_not_empty", {"kind": ""}),
            ("run_finished_at_goes_with_state", {"finished_at": NOW}),
            ("run_finished_at_goes_with_state", {"state": RunState.DONE}),
            ("run_running_has_started", {"state": RunState.RUNNING}),
            ("run_stale_has_a_reason", {"stale_at": NOW}),
            ("run_stale_has_a_reason", {"stale_reason": "erased"}),
        ],
    )
    with pytest.raises(IntegrityError, match="run_key_unique"), transaction.atomic():
        Run.objects.create(study=study, kind="k", key=run.key, created_at=NOW)
    check_updates(
        Unit.objects.filter(run=run, position=0),
        [
            ("unit_position_unique_in_run", {"position": 1}),
            ("unit_state_known", {"state": "LOST", "finished_at": NOW}),
            ("unit_claimed_has_a_lease", {"state": UnitState.CLAIMED}),
            ("unit_claimed_has_a_lease", {"lease_until": NOW + timedelta(hours=1)}),
            ("unit_finished_at_goes_with_state", {"state": UnitState.FAILED}),
            ("unit_finished_at_goes_with_state", {"finished_at": NOW}),
            ("unit_done_was_claimed", {"state": UnitState.DONE, "finished_at": NOW}),
            ("unit_progress_within_total", {"done": 3, "total": 2}),
            ("unit_progress_within_total", {"done": -1}),
        ],
    )


def test_rules_of_files(study: Study) -> None:
    run = lifecycle.start(study=study, kind="test.tiny", now=NOW)
    for name in ("t.csv", "u.csv"):
        Artifact.objects.create(run=run, name=name, size=0, sha256=SUM, file="f", created_at=NOW)
    check_updates(
        Artifact.objects.filter(name="u.csv"),
        [
            ("artifact_name_unique_in_run", {"name": "t.csv"}),
            ("artifact_name_is_a_file_name", {"name": "a/t.csv"}),
            ("artifact_name_is_a_file_name", {"name": ""}),
            ("artifact_size_not_negative", {"size": -1}),
            ("artifact_sha256_is_one", {"sha256": "abc"}),
        ],
    )
    Upload.objects.create(study=study, name="u", size=0, sha256=SUM, file="f", uploaded_at=NOW)
    check_updates(
        Upload.objects.all(),
        [
            ("upload_name_not_empty", {"name": ""}),
            ("upload_size_not_negative", {"size": -1}),
            ("upload_sha256_is_one", {"sha256": "Z" * 64}),
        ],
    )


def test_a_worker_has_one_sign_of_life_a_queue() -> None:
    for queue in ("llm", "gpu"):
        WorkerHeartbeat.objects.create(name="w", queue=queue, at=NOW)
    with pytest.raises(IntegrityError, match="worker_heartbeat_once_per_queue"), transaction.atomic():
        WorkerHeartbeat.objects.create(name="w", queue="llm", at=NOW)

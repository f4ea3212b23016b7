"""What must be true of runs is a constraint of the database; each is tried."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState, UnitState
from crowdrag.runs.models import Artifact, Run, Unit, Upload, WorkerBeat
from crowdrag.studies.models import Study
from tests.factories import NOW

pytestmark = pytest.mark.django_db
SUM = "0" * 64


@pytest.fixture
def run(study: Study) -> Run:
    return running.start(study=study, kind="test.tiny", parameters={"units": 2}, now=NOW)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"state": "LOST", "finished_at": NOW}, "run_state_known"),
        ({"queue": "fast"}, "run_queue_known"),
        ({"kind": ""}, "run_kind_not_empty"),
        ({"finished_at": NOW}, "run_finished_at_goes_with_state"),
        ({"state": RunState.DONE}, "run_finished_at_goes_with_state"),
        ({"state": RunState.RUNNING}, "run_running_has_started"),
        ({"stale_at": NOW}, "run_stale_has_a_reason"),
        ({"stale_reason": "erased"}, "run_stale_has_a_reason"),
    ],
)
def test_rules_of_runs(run: Run, change: dict, rule: str) -> None:
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(**change)


def test_a_runs_key_is_its_own(run: Run, study: Study) -> None:
    with pytest.raises(IntegrityError, match="run_key_unique"), transaction.atomic():
        Run.objects.create(study=study, kind="k", key=run.key, created_at=NOW)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"position": 1}, "unit_position_unique_in_run"),
        ({"state": "LOST", "finished_at": NOW}, "unit_state_known"),
        ({"state": UnitState.CLAIMED}, "unit_claimed_has_a_lease"),
        ({"lease_until": NOW + timedelta(hours=1)}, "unit_claimed_has_a_lease"),
        ({"state": UnitState.FAILED}, "unit_finished_at_goes_with_state"),
        ({"finished_at": NOW}, "unit_finished_at_goes_with_state"),
        ({"state": UnitState.DONE, "finished_at": NOW}, "unit_done_was_claimed"),
        ({"done": 3, "total": 2}, "unit_progress_within_total"),
        ({"done": -1}, "unit_progress_within_total"),
    ],
)
def test_rules_of_units(run: Run, change: dict, rule: str) -> None:
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        Unit.objects.filter(run=run, position=0).update(**change)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"name": "t.csv"}, "artifact_name_unique_in_run"),
        ({"name": "a/t.csv"}, "artifact_name_is_a_file_name"),
        ({"name": ""}, "artifact_name_is_a_file_name"),
        ({"size": -1}, "artifact_size_not_negative"),
        ({"sha256": "abc"}, "artifact_sha256_is_one"),
    ],
)
def test_rules_of_artifacts(run: Run, change: dict, rule: str) -> None:
    fields = {"run": run, "name": "u.csv", "size": 0, "sha256": SUM, "file": "f", "created_at": NOW}
    Artifact.objects.create(**fields | {"name": "t.csv"})
    Artifact.objects.create(**fields)
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        Artifact.objects.filter(name="u.csv").update(**change)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"name": ""}, "upload_name_not_empty"),
        ({"size": -1}, "upload_size_not_negative"),
        ({"sha256": "Z" * 64}, "upload_sha256_is_one"),
    ],
)
def test_rules_of_uploads(study: Study, change: dict, rule: str) -> None:
    Upload.objects.create(study=study, name="u", size=0, sha256=SUM, file="f", uploaded_at=NOW)
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        Upload.objects.update(**change)


def test_a_worker_has_one_sign_of_life_a_queue() -> None:
    WorkerBeat.objects.create(name="w", queue="llm", at=NOW)
    WorkerBeat.objects.create(name="w", queue="gpu", at=NOW)
    with pytest.raises(IntegrityError, match="worker_beat_one_per_worker_and_queue"), transaction.atomic():
        WorkerBeat.objects.create(name="w", queue="llm", at=NOW)

"""A system in which there is something of everything that the operator's dashboards list."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from crowdrag.accounts import login_limits
from crowdrag.audit import services
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Artifact, Run, Unit, WorkerHeartbeat
from crowdrag.operations import backups, machines
from crowdrag.operations.models import BackupKind
from crowdrag.studies.enums import AuditedContent
from tests.factories import ParticipantFactory, UserFactory

NUMBERS = count()


def busy(number: int) -> None:
    """So much of everything that dashboards list."""
    now = timezone.now()
    for index in (next(NUMBERS) for _ in range(number)):
        person = ParticipantFactory(study__llm_budget=100)
        study = person.study
        run = Run.objects.create(
            study=study, kind=f"kind.{index}", state=RunState.RUNNING, code_version="1", created_at=now, started_at=now
        )
        old = now - timedelta(hours=2)
        states: list[dict[str, Any]] = [
            {"state": UnitState.CLAIMED, "lease_until": old, "claimed_at": old, "worker": "gone", "fence": 1},
            {"state": UnitState.PENDING},
            {"state": UnitState.FAILED, "finished_at": now, "error": "<b>no</b>"},
            {"state": UnitState.DONE, "finished_at": now, "claimed_at": old, "fence": 1},
        ]
        for position, fields in enumerate(states):
            Unit.objects.create(run=run, position=position, due_at=old, **fields)
        Artifact.objects.create(run=run, name="a", size=5, sha256="0" * 64, created_at=now, file="a")
        WorkerHeartbeat.objects.create(name=f"worker-{index}", queue="default", at=now)
        machines.report(now=now, name=f"machine-{index}")
        backups.record(kind=BackupKind.DRILL, file=f"{index}.tar", is_good=True, now=now)
        user = UserFactory()
        services.record_access(
            by=user,
            study=study,
            content=AuditedContent.LOG,
            page="replay",
            participant=person.pk,
            work_key=index,
            now=now,
        )
        login_limits.guard(account=user.email, address=f"198.51.100.{index % 250}", check=lambda: None, now=now)

"""Backups, and drills (rehearsed restores)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from .models import Backup, BackupKind

SHOWN: Final = 30
# Maximum age of the last backup or drill before the page warns.
BACKUP_WITHIN: Final = timedelta(days=2)
DRILL_WITHIN: Final = timedelta(days=92)


@dataclass(frozen=True)
class BackupStatus:
    """The last successful backup, the last drill whatever its result, and whether either is too old."""

    backup: Backup | None
    drill: Backup | None
    backup_is_late: bool
    drill_is_late: bool


def record(*, kind: str, file: str, is_good: bool, now: datetime, **facts: Any) -> Backup:
    """Record a backup or a drill; `facts` are fields of `Backup`."""
    return Backup.objects.create(kind=kind, file=file, is_good=is_good, at=now, **facts)


def status(*, now: datetime) -> BackupStatus:
    """Return the status of backups and drills."""
    newest = Backup.objects.order_by("-at", "-id")
    backup = newest.filter(kind=BackupKind.BACKUP, is_good=True).first()
    drill = newest.filter(kind=BackupKind.DRILL).first()
    return BackupStatus(
        backup,
        drill,
        backup_is_late=backup is None or now - backup.at > BACKUP_WITHIN,
        drill_is_late=drill is None or not drill.is_good or now - drill.at > DRILL_WITHIN,
    )


def latest() -> list[Backup]:
    """Return backups and drills, newest first."""
    return list(Backup.objects.order_by("-at", "-id")[:SHOWN])

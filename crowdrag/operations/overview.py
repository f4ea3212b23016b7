"""The operator's overview: what is wrong, and where."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.functional import Promise

from crowdrag.accounts.models import SignInFailure
from crowdrag.audit.models import AccessLogEntry
from crowdrag.runtime.service_monitor import HEALTHY

from . import backups, disk_usage, machines, service_status, spend

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Tile:
    """One dashboard on the first page: its name, its page, its summary, and whether it is healthy."""

    title: str | Promise
    url_name: str
    tone: str
    messages: list[str]


def tiles(*, now: datetime) -> list[Tile]:
    """Return the summary of each dashboard, in the order of the pages."""
    return [
        _services(now),
        _machines(now),
        _work(now),
        _spending(),
        _disk(),
        _sign_ins(now),
        _audit_log(now),
        _backups(now),
    ]


def _tile(title: str | Promise, url_name: str, bad: list[str], warn: list[str], fine: str) -> Tile:
    tone = "bad" if bad else "warn" if warn else "good"
    return Tile(title, url_name, tone, bad + warn or [fine])


def _services(now: datetime) -> Tile:
    queues = service_status.queues(now=now)
    bad = [f"No worker serves the queue {queue.name}, but work is due." for queue in queues if queue.is_deserted]
    if not service_status.sweeps_alive(now=now):
        bad.append("No sweep is running, so lost work is not recovered.")
    if not service_status.broker().answers:
        bad.append("The broker does not respond.")
    bad += [
        "{title}: {state}, {reason}".format(**entry)
        for entry in service_status.supervised()
        if entry.get("state") not in {*HEALTHY, "starting"}
    ]
    due = sum(queue.due for queue in queues)
    waiting = f"{due} unit is due." if due == 1 else f"{due} units are due."
    idle = ", ".join(queue.name for queue in queues if not queue.workers and not queue.may_start)
    fine = f"No worker serves {idle}; nothing is due there. {waiting}" if idle else f"All queues are served. {waiting}"
    return _tile("Services and queues", "operations_services", bad, [], fine)


def _machines(now: datetime) -> Tile:
    rows = machines.list_machines(now=now)
    warn = ["{} has not reported lately.".format(row["machine"].name) for row in rows if row["is_silent"]]
    devices = sum(len(row["machine"].facts.get("devices", [])) for row in rows if not row["is_silent"])
    fine = f"{len(rows)} machine{'' if len(rows) == 1 else 's'}, {devices} GPU{'' if devices == 1 else 's'}."
    return _tile("Workers and machines", "operations_machines", [], warn, fine)


def _work(now: datetime) -> Tile:
    counts = service_status.hanging_counts(now=now)
    messages = {
        "stale": "{} units were left by a worker that stopped.",
        "waiting": "{} units have been waiting for more than five minutes.",
        "failed": "{} units failed permanently in the last day.",
    }
    warn = [messages[name].format(count) for name, count in counts.items() if count]
    return _tile("Stuck and slow work", "operations_work", [], warn, "No stuck jobs.")


def _spending() -> Tile:
    rows = [row for row in spend.list_budgets() if row["is_nearly_spent"]]
    warn = [f"{row['study'].slug} has spent {int(row['share'] * 100)} % of its budget." for row in rows[:5]]
    return _tile("Budgets and spending", "operations_spend", [], warn, "No budget is nearly used up.")


def _disk() -> Tile:
    disks = disk_usage.disks()
    reserve = filesizeformat(settings.DISK_RESERVE)
    bad = [
        "Only {} are free on the disk of {}. This is less than the reserve of {}, so uploads are refused.".format(
            filesizeformat(disk["free"]), ", ".join(disk["names"]), reserve
        )
        if disk["is_below_reserve"]
        else "The disk of {} is nearly full.".format(", ".join(disk["names"]))
        for disk in disks
        if disk["is_below_reserve"] or disk["is_nearly_full"]
    ]
    least = min((round(disk["share"] * 100) for disk in disks), default=0)
    return _tile("Disk", "operations_disk", bad, [], f"At least {least} % free.")


def _sign_ins(now: datetime) -> Tile:
    failures = SignInFailure.objects.filter(at__gte=now - DAY)
    refused = failures.filter(was_refused=True).values("address", "account_hash").distinct().count()
    warn = []
    if refused:
        pairs = "pair of an address and an account was" if refused == 1 else "pairs of an address and an account were"
        warn = [f"{refused} {pairs} refused after too many attempts in the last day."]
    fine = f"{failures.count()} failed in the last day."
    return _tile("Failed sign-ins", "operations_sign_ins", [], warn, fine)


def _audit_log(now: datetime) -> Tile:
    looks: Any = AccessLogEntry.objects.filter(at__gte=now - DAY)
    views, people = looks.count(), looks.order_by().values("by").distinct().count()
    fine = (
        f"{views} view{'' if views == 1 else 's'} by {people} {'person' if people == 1 else 'people'} in the last day."
    )
    return _tile("Access log", "operations_access_log", [], [], fine)


def _backups(now: datetime) -> Tile:
    kept = backups.status(now=now)
    bad = ["There is no good backup from the last two days."] if kept.backup_is_late else []
    warn = ["There was no successful restore drill in the last three months."] if kept.drill_is_late else []
    return _tile("Backups", "operations_backups", bad, warn, "Backup and restore drill are up to date.")

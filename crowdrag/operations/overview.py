"""The operator's overview: what is wrong, and where."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from crowdrag.accounts.models import SignInFailure
from crowdrag.audit.models import AccessLogEntry

from . import backups, disk_usage, machines, service_status, spend

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Tile:
    """One dashboard on the first page: what it is called, where it is, what it says, and whether that is well."""

    title: str | Promise
    url_name: str
    tone: str
    messages: list[str]


def tiles(*, now: datetime) -> list[Tile]:
    """Return what each dashboard has to say, in the order of the pages."""
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
    bad = [_("No worker serves the queue %s, but work is due.") % queue.name for queue in queues if queue.is_deserted]
    if not service_status.sweeps_alive(now=now):
        bad.append(_("No sweep is running, so lost work is not recovered."))
    if not service_status.broker().answers:
        bad.append(_("The broker does not respond."))
    bad += [
        _("%(title)s: %(state)s, %(reason)s") % entry
        for entry in service_status.supervised()
        if entry.get("state") not in {"ready", "starting"}
    ]
    due = sum(queue.due for queue in queues)
    fine = ngettext(
        "All queues are served. %(n)d unit is due.", ("All queues are served. %(n)d units are due."), due
    ) % {"n": due}
    return _tile(gettext_lazy("Services and queues"), "operations_services", bad, [], fine)


def _machines(now: datetime) -> Tile:
    rows = machines.list_machines(now=now)
    warn = [_("%s has not reported lately.") % row["machine"].name for row in rows if row["is_silent"]]
    devices = sum(len(row["machine"].facts.get("devices", [])) for row in rows if not row["is_silent"])
    fine = _("%(machines)d machines, %(devices)d devices.") % {"machines": len(rows), "devices": devices}
    return _tile(gettext_lazy("Workers and machines"), "operations_machines", [], warn, fine)


def _work(now: datetime) -> Tile:
    counts = service_status.hanging_counts(now=now)
    messages = {
        "stale": _("%d units lost their worker."),
        "waiting": _("%d units have been waiting for more than five minutes."),
        "failed": _("%d units failed permanently in the last day."),
    }
    warn = [messages[name] % count for name, count in counts.items() if count]
    return _tile(gettext_lazy("Stuck and slow work"), "operations_work", [], warn, _("No stuck jobs."))


def _spending() -> Tile:
    rows = [row for row in spend.list_budgets() if row["is_nearly_spent"]]
    warn = [
        _("%(study)s has spent %(share)d %% of its budget.")
        % {"study": row["study"].slug, "share": int(row["share"] * 100)}
        for row in rows[:5]
    ]
    return _tile(gettext_lazy("Budgets and spending"), "operations_spend", [], warn, _("No budget is nearly used up."))


def _disk() -> Tile:
    disks = disk_usage.disks()
    bad = [_("The disk of %s is nearly full.") % ", ".join(disk["names"]) for disk in disks if disk["is_nearly_full"]]
    least = min((int(disk["share"] * 100) for disk in disks), default=0)
    return _tile(gettext_lazy("Disk"), "operations_disk", bad, [], _("At least %d %% free.") % least)


def _sign_ins(now: datetime) -> Tile:
    failures = SignInFailure.objects.filter(at__gte=now - DAY)
    refused = failures.filter(was_refused=True).values("address", "account_hash").distinct().count()
    warn = []
    if refused:
        message = ngettext(
            "%(n)d was rate limited in the last day.", ("%(n)d were rate limited in the last day."), refused
        )
        warn = [message % {"n": refused}]
    fine = _("%d failed in the last day.") % failures.count()
    return _tile(gettext_lazy("Failed sign-ins"), "operations_sign_ins", [], warn, fine)


def _audit_log(now: datetime) -> Tile:
    looks: Any = AccessLogEntry.objects.filter(at__gte=now - DAY)
    message = _("%(looks)d views by %(people)d people in the last day.")
    fine = message % {"looks": looks.count(), "people": looks.order_by().values("by").distinct().count()}
    return _tile(gettext_lazy("Access log"), "operations_access_log", [], [], fine)


def _backups(now: datetime) -> Tile:
    kept = backups.status(now=now)
    bad = [_("There is no good backup from the last two days.")] if kept.backup_is_late else []
    warn = [_("There was no successful restore drill in the last three months.")] if kept.drill_is_late else []
    return _tile(
        gettext_lazy("Backups"), "operations_backups", bad, warn, _("Backup and restore drill are up to date.")
    )

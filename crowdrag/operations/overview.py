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
    bad = [_("Nobody serves the queue %s, and work is due.") % queue.name for queue in queues if queue.is_deserted]
    if not service_status.sweeps_alive(now=now):
        bad.append(_("No sweep was heard of: work that is lost stays lost."))
    if not service_status.broker().answers:
        bad.append(_("The broker does not answer."))
    bad += [
        _("%(title)s: %(state)s, %(reason)s") % entry
        for entry in service_status.supervised()
        if entry.get("state") not in {"ready", "starting"}
    ]
    due = sum(queue.due for queue in queues)
    fine = ngettext("All served; %(n)d unit is due.", "All served; %(n)d units are due.", due) % {"n": due}
    return _tile(gettext_lazy("Services and queues"), "operations_services", bad, [], fine)


def _machines(now: datetime) -> Tile:
    rows = machines.list_machines(now=now)
    warn = [_("%s has not been heard of lately.") % row["machine"].name for row in rows if row["is_silent"]]
    devices = sum(len(row["machine"].facts.get("devices", [])) for row in rows if not row["is_silent"])
    fine = _("%(machines)d machines, %(devices)d devices.") % {"machines": len(rows), "devices": devices}
    return _tile(gettext_lazy("Workers and devices"), "operations_machines", [], warn, fine)


def _work(now: datetime) -> Tile:
    counts = service_status.hanging_counts(now=now)
    messages = {
        "stale": _("%d units whose worker vanished."),
        "waiting": _("%d units have waited for more than five minutes."),
        "failed": _("%d units failed for good in a day."),
    }
    warn = [messages[name] % count for name, count in counts.items() if count]
    return _tile(gettext_lazy("Stuck and slow work"), "operations_work", [], warn, _("Nothing hangs."))


def _spending() -> Tile:
    rows = [row for row in spend.list_budgets() if row["is_nearly_spent"]]
    warn = [
        _("%(study)s has spent %(share)d %% of its budget.")
        % {"study": row["study"].slug, "share": int(row["share"] * 100)}
        for row in rows[:5]
    ]
    return _tile(gettext_lazy("Budgets and spend"), "operations_spend", [], warn, _("No budget is nearly spent."))


def _disk() -> Tile:
    disks = disk_usage.disks()
    bad = [_("The disk of %s is nearly full.") % ", ".join(disk["names"]) for disk in disks if disk["is_nearly_full"]]
    least = min((int(disk["share"] * 100) for disk in disks), default=0)
    return _tile(gettext_lazy("Disk"), "operations_disk", bad, [], _("%d %% free at least.") % least)


def _sign_ins(now: datetime) -> Tile:
    failures = SignInFailure.objects.filter(at__gte=now - DAY)
    refused = failures.filter(was_refused=True).values("address", "account_hash").distinct().count()
    warn = []
    if refused:
        message = ngettext("%(n)d was made to wait in a day.", "%(n)d were made to wait in a day.", refused)
        warn = [message % {"n": refused}]
    fine = _("%d failed in a day.") % failures.count()
    return _tile(gettext_lazy("Failed sign-ins"), "operations_sign_ins", [], warn, fine)


def _audit_log(now: datetime) -> Tile:
    looks: Any = AccessLogEntry.objects.filter(at__gte=now - DAY)
    message = _("%(looks)d looks by %(people)d people in a day.")
    fine = message % {"looks": looks.count(), "people": looks.order_by().values("by").distinct().count()}
    return _tile(gettext_lazy("Who looked at worker data"), "operations_access_log", [], [], fine)


def _backups(now: datetime) -> Tile:
    kept = backups.status(now=now)
    bad = [_("There is no good backup of the last two days.")] if kept.backup_is_late else []
    warn = [_("No restore was rehearsed well in three months.")] if kept.drill_is_late else []
    return _tile(gettext_lazy("Backups"), "operations_backups", bad, warn, _("Backed up, and the restore rehearsed."))

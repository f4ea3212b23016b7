"""Figures for a monitoring system, as Prometheus reads them.

What web processes answer is counted in each of them; with `PROMETHEUS_MULTIPROC_DIR` set, all processes of a machine
count into files there, and whichever is asked answers for all. All else is asked of the database when somebody asks,
with the same number of queries however much there is.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from django.db.models import Count
from django.utils import timezone
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.samples import Sample

from crowdrag import __version__
from crowdrag.audit.models import SignInFailure
from crowdrag.runs.enums import ACTIVE
from crowdrag.runs.models import Run

from . import keeping, machines, room, services, spending, work

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 10.0)
# Every process has its own; what it counts goes into files where there are several.
OWN: Final = CollectorRegistry()
ANSWERED: Final = Counter("crowdrag_http_requests", "Requests answered.", ["view", "method", "status"], registry=OWN)
TOOK: Final = Histogram(
    "crowdrag_http_request_seconds", "How long answers took.", ["view"], buckets=BUCKETS, registry=OWN
)
METHODS: Final = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def answered(*, view: str, method: str, status: int, seconds: float) -> None:
    """Count an answer. `view` is the name of an address: there are as many as pages, whatever people ask for."""
    known = method if method in METHODS else "other"
    ANSWERED.labels(view, known, f"{status // 100}xx").inc()
    TOOK.labels(view).observe(seconds)


def requests() -> Iterator[Sample]:
    """Yield what was counted of requests on this machine."""
    for family in _counted().collect():
        if family.name.startswith("crowdrag_http_"):
            yield from family.samples


def everything(*, now: datetime | None = None) -> bytes:
    """Return all figures in Prometheus' text format."""
    moment = now or timezone.now()
    registry = _counted()
    registry.register(_Database(moment))
    return generate_latest(registry)


def _counted() -> CollectorRegistry:
    """Return a registry that answers for all processes of this machine, or for this one alone."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(OWN)
    return registry


class _Database:
    """What the database knows, asked when it is collected."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def describe(self) -> list[Metric]:
        """Say nothing beforehand: registering must ask nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Ask, and yield."""
        yield _gauge("crowdrag_info", "The version that runs.", ["version"], [((__version__,), 1)])
        yield from self._work()
        yield from self._stores()
        yield from self._people()

    def _work(self) -> Iterator[Metric]:
        queues = services.queues(now=self._now)
        counts = [
            ((queue.name, state), float(getattr(queue, state)))
            for queue in queues
            for state in ("due", "later", "claimed")
        ]
        yield _gauge("crowdrag_queue_units", "Units of work in each queue.", ["queue", "state"], counts)
        ages = [
            ((queue.name,), (self._now - queue.oldest).total_seconds() if queue.oldest else 0.0) for queue in queues
        ]
        yield _gauge("crowdrag_queue_oldest_seconds", "How long the oldest due unit has waited.", ["queue"], ages)
        served = [((queue.name,), float(queue.workers)) for queue in queues]
        served.append((("sweep",), float(services.sweeps_alive(now=self._now))))
        yield _gauge("crowdrag_workers_alive", "Workers (and sweeps) heard of lately.", ["queue"], served)
        hanging = [((state,), float(count)) for state, count in work.counts(now=self._now).items()]
        yield _gauge("crowdrag_units_hanging", "Units that hang, by how.", ["how"], hanging)
        states = dict(Run.objects.active().order_by().values_list("state").annotate(n=Count("pk")))
        runs = [((state.value,), float(states.get(state.value, 0))) for state in ACTIVE]
        yield _gauge("crowdrag_runs_active", "Runs that have something to do.", ["state"], runs)

    def _stores(self) -> Iterator[Metric]:
        database = services.database()
        yield _gauge("crowdrag_database_bytes", "Size of the database.", [], [((), float(database["size"]))])
        yield _gauge(
            "crowdrag_database_connections", "Connections to the database.", [], [((), float(database["connections"]))]
        )
        longest = database["longest"].total_seconds() if database["longest"] else 0.0
        yield _gauge("crowdrag_database_longest_transaction_seconds", "The longest transaction.", [], [((), longest)])
        disks = room.disks()
        free = [(("+".join(disk["names"]),), float(disk["free"])) for disk in disks]
        total = [(("+".join(disk["names"]),), float(disk["total"])) for disk in disks]
        yield _gauge("crowdrag_disk_free_bytes", "Free room on this machine's disks.", ["holds"], free)
        yield _gauge("crowdrag_disk_bytes", "Size of this machine's disks.", ["holds"], total)
        devices = [
            ((row["machine"].name, str(device.get("index")), device["name"]), device)
            for row in machines.every(now=self._now)
            if not row["is_silent"]
            for device in row["machine"].facts.get("devices", [])
        ]
        busy = [(labels, float(device["busy"] or 0) / 100) for labels, device in devices]
        used = [(labels, float(device["used"] or 0)) for labels, device in devices]
        names = ["machine", "device", "name"]
        yield _gauge("crowdrag_device_busy_ratio", "How busy devices are.", names, busy)
        yield _gauge("crowdrag_device_used_bytes", "Memory used of devices.", names, used)

    def _people(self) -> Iterator[Metric]:
        spent = [((row["study"].slug, row["study"].currency), float(row["spent"])) for row in spending.budgets()]
        yield _gauge(
            "crowdrag_llm_spent_minor_units", "What studies spent on models at most.", ["study", "currency"], spent
        )
        failed = SignInFailure.objects.filter(at__gte=self._now - work.FAILED_WITHIN).count()
        yield _gauge("crowdrag_sign_ins_failed_day", "Sign-ins that failed in a day.", [], [((), float(failed))])
        kept = keeping.standing(now=self._now)
        ages = [
            ((name,), (self._now - row.at).total_seconds())
            for name, row in (("backup", kept.backup), ("drill", kept.drill))
            if row is not None
        ]
        yield _gauge("crowdrag_kept_age_seconds", "Age of the last good backup and drill.", ["what"], ages)


def _gauge(name: str, says: str, labels: list[str], samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    family = GaugeMetricFamily(name, says, labels=labels)
    for values, value in samples:
        family.add_metric(list(values), value)
    return family

"""Metrics for Prometheus, and the rates and latencies on the operator's page.

Responses of web processes are counted in each of them (`count_requests`); with `PROMETHEUS_MULTIPROC_DIR` set, all
processes of a machine count into files there, and each can report for all. Everything else is queried from the database
on request, with the same number of queries however many rows there are.
"""

import hmac
import ipaddress
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.samples import Sample

from crowdrag import __version__
from crowdrag.accounts.login_limits import client_address
from crowdrag.accounts.models import SignInFailure
from crowdrag.jobs.enums import ACTIVE
from crowdrag.jobs.models import Run
from crowdrag.studies.access import public

from . import backups, disk_usage, machines, service_status, spend

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 10.0)
# Each process has its own; with several processes, counts are written to files.
PROCESS_REGISTRY: Final = CollectorRegistry()
REQUESTS: Final = Counter(
    "crowdrag_http_requests", "Requests answered.", ["view", "method", "status"], registry=PROCESS_REGISTRY
)
REQUEST_SECONDS: Final = Histogram(
    "crowdrag_http_request_seconds", "How long answers took.", ["view"], buckets=BUCKETS, registry=PROCESS_REGISTRY
)
METHODS: Final = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def count_answer(*, view: str, method: str, status: int, seconds: float) -> None:
    """Count a response. `view` is a URL name, so that the number of labels is limited, whatever URLs are requested."""
    known = method if method in METHODS else "other"
    REQUESTS.labels(view, known, f"{status // 100}xx").inc()
    REQUEST_SECONDS.labels(view).observe(seconds)


def request_samples() -> Iterator[Sample]:
    """Yield the request counts of this machine."""
    for family in _request_registry().collect():
        if family.name.startswith("crowdrag_http_"):
            yield from family.samples


def render_all(*, now: datetime | None = None) -> bytes:
    """Return all metrics in Prometheus' text format."""
    moment = now or timezone.now()
    registry = _request_registry()
    registry.register(_DatabaseCollector(moment))
    return generate_latest(registry)


def _request_registry() -> CollectorRegistry:
    """Return a registry with the counts of all processes of this machine, or of this one only."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(PROCESS_REGISTRY)
    return registry


class _DatabaseCollector:
    """Metrics from the database, queried when they are collected."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def describe(self) -> list[Metric]:
        """Return nothing: registering must not query."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Query the database, and yield the metrics."""
        yield _gauge("crowdrag_info", "The version that runs.", ["version"], [((__version__,), 1)])
        yield from self._work()
        yield from self._stores()
        yield from self._people()

    def _work(self) -> Iterator[Metric]:
        queues = service_status.queues(now=self._now)
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
        served.append((("sweep",), float(service_status.sweeps_alive(now=self._now))))
        yield _gauge("crowdrag_workers_alive", "Workers (and sweeps) heard of lately.", ["queue"], served)
        hanging = [((state,), float(count)) for state, count in service_status.hanging_counts(now=self._now).items()]
        yield _gauge("crowdrag_units_hanging", "Units that hang, by how.", ["how"], hanging)
        states = dict(Run.objects.active().order_by().values_list("state").annotate(n=Count("pk")))
        runs = [((state.value,), float(states.get(state.value, 0))) for state in ACTIVE]
        yield _gauge("crowdrag_runs_active", "Runs that have something to do.", ["state"], runs)

    def _stores(self) -> Iterator[Metric]:
        database = service_status.database()
        yield _gauge("crowdrag_database_bytes", "Size of the database.", [], [((), float(database["size"]))])
        yield _gauge(
            "crowdrag_database_connections", "Connections to the database.", [], [((), float(database["connections"]))]
        )
        longest = database["longest"].total_seconds() if database["longest"] else 0.0
        yield _gauge("crowdrag_database_longest_transaction_seconds", "The longest transaction.", [], [((), longest)])
        disks = disk_usage.disks()
        free = [(("+".join(disk["names"]),), float(disk["free"])) for disk in disks]
        total = [(("+".join(disk["names"]),), float(disk["total"])) for disk in disks]
        yield _gauge("crowdrag_disk_free_bytes", "Free room on this machine's disks.", ["holds"], free)
        yield _gauge("crowdrag_disk_bytes", "Size of this machine's disks.", ["holds"], total)
        devices = [
            ((row["machine"].name, str(device.get("index")), device["name"]), device)
            for row in machines.list_machines(now=self._now)
            if not row["is_silent"]
            for device in row["machine"].facts.get("devices", [])
        ]
        busy = [(labels, float(device["busy"] or 0) / 100) for labels, device in devices]
        used = [(labels, float(device["used"] or 0)) for labels, device in devices]
        names = ["machine", "device", "name"]
        yield _gauge("crowdrag_device_busy_ratio", "How busy devices are.", names, busy)
        yield _gauge("crowdrag_device_used_bytes", "Memory used of devices.", names, used)

    def _people(self) -> Iterator[Metric]:
        spent = [((row["study"].slug, row["study"].currency), float(row["spent"])) for row in spend.list_budgets()]
        yield _gauge(
            "crowdrag_llm_spent_minor_units", "What studies spent on models at most.", ["study", "currency"], spent
        )
        failed = SignInFailure.objects.filter(at__gte=self._now - service_status.FAILED_WITHIN).count()
        yield _gauge("crowdrag_sign_ins_failed_day", "Sign-ins that failed in a day.", [], [((), float(failed))])
        kept = backups.status(now=self._now)
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


RATES_WITHIN: Final = timedelta(days=1)
_ATTEMPTS = """
    SELECT endpoint.name, count(*), count(*) FILTER (WHERE fault <> ''),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY latency) FILTER (WHERE latency IS NOT NULL),
           percentile_cont(0.95) WITHIN GROUP (ORDER BY latency) FILTER (WHERE latency IS NOT NULL)
    FROM llm_attempt attempt JOIN llm_endpoint endpoint ON endpoint.id = attempt.endpoint_id
    WHERE started_at >= %s GROUP BY endpoint.name ORDER BY endpoint.name
"""


def request_rates() -> list[dict[str, Any]]:
    """Return the responses of this machine's web processes since their start, most time first."""
    views: dict[str, dict[str, Any]] = defaultdict(lambda: {"n": 0.0, "errors": 0.0, "seconds": 0.0, "buckets": []})
    for sample in request_samples():
        view = views[sample.labels["view"]]
        if sample.name.endswith("_total"):
            view["n"] += sample.value
            view["errors"] += sample.value if sample.labels["status"] == "5xx" else 0
        elif sample.name.endswith("_sum"):
            view["seconds"] += sample.value
        elif sample.name.endswith("_bucket"):
            view["buckets"].append((float(sample.labels["le"]), sample.value))
    rows = []
    for name, view in views.items():
        buckets = sorted(view.pop("buckets"))
        quantiles = {"median": quantile(buckets, 0.5), "p95": quantile(buckets, 0.95)}
        rows.append({"view": name, **view, "mean": view["seconds"] / view["n"] if view["n"] else None, **quantiles})
    return sorted(rows, key=lambda row: (-row["seconds"], row["view"]))


def quantile(buckets: list[tuple[float, float]], share: float) -> float | None:
    """Return the upper bound of the bucket with this quantile; None if there are no data, or the bound is infinite.

    `buckets`: (upper bound, cumulative count) in order, as in Prometheus; the last bound is infinite.
    """
    if not buckets or not buckets[-1][1]:
        return None
    rank = buckets[-1][1] * share
    end = next(upper for upper, count in buckets if count >= rank)
    return end if end != float("inf") else None


def model_rates(*, now: datetime) -> list[dict[str, Any]]:
    """Return each endpoint's calls of the last day: number, failures, median and 95th percentile."""
    with connection.cursor() as cursor:
        cursor.execute(_ATTEMPTS, [now - RATES_WITHIN])
        names = ("endpoint", "n", "failed", "median", "p95")
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def unit_rates(*, now: datetime) -> list[service_status.UsualDuration]:
    """Return the recent durations of units of each kind."""
    return list(service_status.usual_durations(now=now).values())


# All unknown URLs count as one view: otherwise anybody could create any number of labels.
NO_PAGE = "none"


@public
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Send all metrics to clients with the token or from an allowed address, and to operators."""
    if not _may_read(request):
        return HttpResponse(
            "Send CROWDRAG_METRICS_TOKEN as a bearer token.\n",
            status=401,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
        )
    return HttpResponse(render_all(), content_type=CONTENT_TYPE_LATEST)


def count_requests(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: count every response and its duration."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = get_response(request)
        match = request.resolver_match
        view = (match.view_name if match else "") or NO_PAGE
        seconds = time.perf_counter() - began
        count_answer(view=view, method=request.method or "", status=response.status_code, seconds=seconds)
        return response

    return answer


def _may_read(request: HttpRequest) -> bool:
    if request.user.is_authenticated and request.user.is_active and request.user.is_staff:
        return True
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    token = settings.METRICS_TOKEN
    if token and scheme.lower() == "bearer" and hmac.compare_digest(credentials.strip().encode(), token.encode()):
        return True
    came_from = client_address(request)
    if came_from is None:
        return False
    address = ipaddress.ip_address(came_from)
    return any(address in network for network in map(ipaddress.ip_network, settings.METRICS_ADDRESSES))

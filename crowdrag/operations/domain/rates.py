"""Rates and latencies: requests of this machine's web processes, models and units as the database knows them."""

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from . import measuring, work

WITHIN: Final = timedelta(days=1)
_ATTEMPTS = """
    SELECT endpoint.name, count(*), count(*) FILTER (WHERE fault <> ''),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY latency) FILTER (WHERE latency IS NOT NULL),
           percentile_cont(0.95) WITHIN GROUP (ORDER BY latency) FILTER (WHERE latency IS NOT NULL)
    FROM llm_attempt attempt JOIN llm_endpoint endpoint ON endpoint.id = attempt.endpoint_id
    WHERE started_at >= %s GROUP BY endpoint.name ORDER BY endpoint.name
"""


def requests() -> list[dict[str, Any]]:
    """Return what the web processes of this machine answered since they were started, most time first."""
    views: dict[str, dict[str, Any]] = defaultdict(lambda: {"n": 0.0, "errors": 0.0, "seconds": 0.0, "buckets": []})
    for sample in measuring.requests():
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
    """Return the upper end of the bucket in which a share of all lies; None where there is nothing, or no end.

    `buckets`: (upper end, how many up to it) in order, as Prometheus keeps them; the last end is infinite.
    """
    if not buckets or not buckets[-1][1]:
        return None
    wanted = buckets[-1][1] * share
    end = next(upper for upper, count in buckets if count >= wanted)
    return end if end != float("inf") else None


def models(*, now: datetime) -> list[dict[str, Any]]:
    """Return what endpoints were asked in a day: how often, how often in vain, median and 95th percentile."""
    with connection.cursor() as cursor:
        cursor.execute(_ATTEMPTS, [now - WITHIN])
        names = ("endpoint", "n", "failed", "median", "p95")
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def units(*, now: datetime) -> list[work.Usual]:
    """Return what units of each kind took lately."""
    return list(work.usual(now=now).values())

"""Dashboards that are looked at, nothing more: each one asks its part of the domain."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from ..domain import keeping, machines, overview, rates, room, services, spending, work
from .frame import dashboard

Shown = tuple[str, Mapping[str, Any]]


@dashboard
def index(_request: HttpRequest, now: datetime) -> Shown:
    """Show whether anything is wrong, and where."""
    return "index", {"tiles": overview.tiles(now=now)}


@dashboard
def services_page(_request: HttpRequest, now: datetime) -> Shown:
    """Show services, queues and stores."""
    return "services", {
        "queues": services.queues(now=now),
        "supervised": services.supervised(),
        "sweeps": services.sweeps_alive(now=now),
        "duties": services.duties(),
        "database": services.database(),
        "broker": services.broker(),
    }


@dashboard
def machines_page(_request: HttpRequest, now: datetime) -> Shown:
    """Show workers, machines and devices."""
    return "machines", {"workers": services.workers(now=now), "machines": machines.every(now=now)}


@dashboard
def work_page(_request: HttpRequest, now: datetime) -> Shown:
    """Show work that hangs, and what work usually takes."""
    return "work", work.hanging(now=now)


@dashboard
def spend_page(request: HttpRequest, now: datetime) -> Shown:
    """Show budgets, and what was spent by study and endpoint in a period."""
    asked = request.GET.get("period", "month")
    period = asked if asked in spending.PERIODS else "month"
    return "spend", {
        "budgets": spending.budgets(),
        "rows": spending.by_study_and_endpoint(now=now, period=period),
        "period": period,
        "periods": list(spending.PERIODS),
    }


@dashboard
def disk_page(_request: HttpRequest, _now: datetime) -> Shown:
    """Show how full disks are, and of what."""
    return "disk", {"disks": room.disks(), "tables": room.tables(), "files": room.files(), "storage": room.storage()}


@dashboard
def rates_page(_request: HttpRequest, now: datetime) -> Shown:
    """Show how much is asked and how long it takes."""
    return "rates", {"requests": rates.requests(), "models": rates.models(now=now), "units": rates.units(now=now)}


@dashboard
def backups_page(_request: HttpRequest, now: datetime) -> Shown:
    """Show backups and drills."""
    return "backups", {"kept": keeping.standing(now=now), "rows": keeping.listed()}

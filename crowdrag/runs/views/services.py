"""For the operator: who works, what waits, what hangs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from crowdrag.studies.access import operator_page

from .. import kinds
from ..enums import Queue
from ..models import Run, Unit, WorkerBeat
from ..models.beat import FRESH

SHOWN = 50


@operator_page
def services(request: HttpRequest) -> HttpResponse:
    """Show workers, queues, and units whose lease ran out or that failed of late."""
    now = timezone.now()
    beats = list(WorkerBeat.objects.order_by("queue", "name", "id"))
    counts = Unit.objects.by_queue(now)
    alive = {beat.queue for beat in beats if now - beat.at <= FRESH}
    queues = [
        {"name": value, "label": label, "served": value in alive, **counts.get(value, {})}
        for value, label in Queue.choices
    ]
    active = Run.objects.active().select_related("study", "created_by").newest_first()[:SHOWN]
    context = {
        "now": now,
        "beats": [{"beat": beat, "fresh": now - beat.at <= FRESH} for beat in beats],
        "queues": queues,
        "active": [{"run": run, "title": kinds.title(run.kind)} for run in active],
        "stale": Unit.objects.stale(now).select_related("run__study").order_by("lease_until", "id")[:SHOWN],
    }
    return render(request, "runs/services.html", context)

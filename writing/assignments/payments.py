"""Earnings of writers."""

from datetime import datetime

from django.db.models import Sum

from crowdrag.studies.models import Study

from ..models import TaskPayment


def earned(study: Study, until: datetime) -> dict[int, int]:
    """Return each writer's earnings decided until a time, in minor units, by participant key."""
    paid = TaskPayment.objects.filter(task__study=study, task__participant__isnull=False, at__lte=until).order_by()
    return dict(paid.values_list("task__participant").annotate(sum=Sum("amount")))

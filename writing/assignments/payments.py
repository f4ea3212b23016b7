"""What writers have earned."""

from datetime import datetime

from django.db.models import Sum

from crowdrag.studies.models import Study

from ..models import TaskPayment


def earned(study: Study, until: datetime) -> dict[int, int]:
    """Return what each writer of a study has earned, in minor units, by the participant's key, decided until a time."""
    paid = TaskPayment.objects.filter(task__study=study, task__participant__isnull=False, at__lte=until).order_by()
    return dict(paid.values_list("task__participant").annotate(sum=Sum("amount")))

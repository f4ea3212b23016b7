"""Earnings of judges."""

from datetime import datetime

from django.db.models import Sum

from crowdrag.studies.models import Study

from ..models import AssignmentPayment


def earned(study: Study, until: datetime) -> dict[int, int]:
    """Return what each judge of a study has earned by decisions until a time: participant key to minor units."""
    paid = AssignmentPayment.objects.filter(assignment__questionnaire__campaign__study=study, at__lte=until).order_by()
    return dict(paid.values_list("assignment__participant").annotate(sum=Sum("amount")))

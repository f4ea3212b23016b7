"""What judges have earned."""

from datetime import datetime

from django.db.models import Sum

from crowdrag.studies.models import Study

from ..models import AssignmentPayment


def earned(study: Study, until: datetime) -> dict[int, int]:
    """Return what each judge of a study has earned, in minor units, by the participant's key, decided until a time."""
    paid = AssignmentPayment.objects.filter(assignment__questionnaire__campaign__study=study, at__lte=until).order_by()
    return dict(paid.values_list("assignment__participant").annotate(sum=Sum("amount")))

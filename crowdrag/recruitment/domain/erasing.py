"""What goes when somebody has everything erased: what ties them to the platform, once they have their money."""

from datetime import datetime

from crowdrag.studies.models import Arrival, Participant

from ..enums import OrderState
from ..models import PlatformEvent, PlatformOrder, Submission
from . import statuses

OPEN = (OrderState.WAITING, OrderState.SENDING, OrderState.UNKNOWN, OrderState.FAILED)


def erase(participant: Participant, now: datetime) -> None:
    """Forget somebody's visits but those that are still to be paid, and of these all but what paying needs."""
    came = Arrival.objects.filter(participant=participant, link__platform_study__isnull=False).exclude(session="")
    for study, session in came.values_list("link__platform_study", "session"):
        # The arrivals go; what may be owed for the visit is paid by its id alone.
        row, _new = Submission.objects.get_or_create(
            platform_study_id=study, external_id=session, defaults={"first_heard_at": now, "participant": participant}
        )
        if row.participant_id is None and row.identity_hash is None:
            Submission.objects.filter(pk=row.pk).update(participant=participant)
    mine = Submission.objects.filter(participant=participant)
    PlatformEvent.objects.filter(resource_id__in=mine.values("external_id")).delete()
    mine.update(identity_hash=None, code="")
    forget_settled(participant)


def forget_settled(participant: Participant) -> None:
    """Delete the visits of somebody who had everything erased that the platform has settled."""
    owed = PlatformOrder.objects.filter(state__in=OPEN, submission__participant=participant)
    settled = Submission.objects.filter(participant=participant, status__in=statuses.FINAL)
    gone = settled.exclude(pk__in=owed.values("submission_id"))
    # What the platform told of these since names them too.
    PlatformEvent.objects.filter(resource_id__in=gone.values("external_id")).delete()
    gone.delete()

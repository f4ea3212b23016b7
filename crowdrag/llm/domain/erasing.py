"""Erasing the texts of calls; that a call was made, and what it cost, stays."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from ..models import Attempt, Call
from ..models.call import CallQuerySet


@transaction.atomic
def erase(*, calls: CallQuerySet, now: datetime | None = None) -> int:
    """Erase question and answer of calls, and what their attempts kept of them; return how many calls it were.

    The digest stays and says nothing of the text. Whoever still holds the same text and asks again is answered anew.
    `Call.objects.holding(text)` finds the calls that hold a text.
    """
    now = now or timezone.now()
    ids = list(calls.filter(erased_at__isnull=True).values_list("pk", flat=True))
    Attempt.objects.filter(call_id__in=ids).exclude(reply__isnull=True, error="").update(reply=None, error="")
    return Call.objects.filter(pk__in=ids).update(
        request=None, text=None, data=None, logprobs=None, refusal=None, error="", erased_at=now
    )

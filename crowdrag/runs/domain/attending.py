"""Doing what is due from time to time, once, however many sweeps there are."""

import logging
from datetime import datetime

from django.db import DatabaseError
from django.utils import timezone

from .. import duties
from ..models import Duty

log = logging.getLogger(__name__)


def do_due(*, now: datetime | None = None) -> list[str]:
    """Do the duties that are due and that nobody else took on; return their names.

    One that fails keeps nobody from the others: it is due again when its time has passed.
    """
    now = now or timezone.now()
    done = []
    for duty in duties.every():
        if not take_on(duty, now):
            continue
        try:
            duty.work(now)
        except DatabaseError:
            raise  # the sweep waits for the database
        except Exception:
            log.exception("The duty %s failed; it is due again in %s", duty.name, duty.every)
        else:
            done.append(duty.name)
    return done


def take_on(duty: duties.Duty, now: datetime) -> bool:
    """Say whether a duty is due and this caller's to do: of several who ask at once, one is told so."""
    rows = Duty.objects.filter(name=duty.name)
    if rows.filter(at__lte=now - duty.every).update(at=now):
        return True
    if rows.exists():
        return False
    _row, made = Duty.objects.get_or_create(name=duty.name, defaults={"at": now})
    return made

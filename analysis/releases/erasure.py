"""Erasure of a participant from releases.

A published release is marked, for everybody to see; the files that may hold something of theirs, and the rows that its
page shows, are gone for good. What says nothing of people stays: what was released, how much, its sums. The way on is a
new version. One that is built and not published is a draft again; one that is being built begins anew.
"""

from contextlib import suppress
from datetime import datetime

from django.db.models import F

from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant

from ..enums import PUBLIC_RELEASES, ReleaseState
from . import services, storage
from .builds import KIND
from .models import Release, ReleaseFile, ReleaseTable


def erase(participant: Participant, now: datetime) -> None:
    """Take what a participant gave out of all releases of their study; the caller holds the participant's row."""
    _begin_anew(participant, now)
    # Locked in one order; the effect of a building run holds its run's row first, and is over or stopped by now.
    held = Release.objects.select_for_update(no_key=True, of=("self",)).select_related("run").order_by("pk")
    for release in held.holding(participant.pk):
        if release.state in PUBLIC_RELEASES:
            _mark(release, participant, now)
        elif release.state == ReleaseState.READY:
            services.reopen(release)


def _begin_anew(participant: Participant, now: datetime) -> None:
    for run in Run.objects.filter(study=participant.study_id, kind=KIND).active().order_by("pk"):
        with suppress(lifecycle.NotActiveError):  # it ended in this moment
            lifecycle.cancel(run=run, now=now)
            lifecycle.resume(run=run, now=now)


def _mark(release: Release, participant: Participant, now: datetime) -> None:
    moved = {"state": ReleaseState.MARKED} if release.state == ReleaseState.PUBLISHED else {}
    Release.objects.filter(pk=release.pk).update(
        marked_at=now, erased_participants=F("erased_participants") + 1, **moved
    )
    files = ReleaseFile.objects.filter(release=release, of_people=True, removed_at__isnull=True)
    storage.remove([str(name) for name in files.values_list("file", flat=True)])
    files.update(file="", removed_at=now)
    ReleaseTable.objects.filter(release=release).exclude(preview=[]).update(preview=[])
    release.people.filter(participant=participant).delete()

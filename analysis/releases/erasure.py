"""Erasure of a participant from releases.

A published release is publicly marked. Its files that may contain the participant's data, and the rows shown on its
page, are deleted for good. Information that is not about people stays: what was released, how much, and the checksums.
The remedy is a new version. A built but unpublished release becomes a draft again; a running build starts over.
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
    """Remove a participant's data from all releases of their study; the caller holds the participant's row lock."""
    _begin_anew(participant, now)
    # Lock in a fixed order. The effect of a build locks its run first; those builds are over or cancelled by now.
    held = Release.objects.select_for_update(no_key=True, of=("self",)).select_related("run").order_by("pk")
    for release in held.holding(participant.pk):
        if release.state in PUBLIC_RELEASES:
            _mark(release, participant, now)
        elif release.state == ReleaseState.READY:
            services.reopen(release)


def _begin_anew(participant: Participant, now: datetime) -> None:
    for run in Run.objects.filter(study=participant.study_id, kind=KIND).active().order_by("pk"):
        with suppress(lifecycle.NotActiveError):  # it has just ended
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

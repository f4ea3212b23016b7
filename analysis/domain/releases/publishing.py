"""Publishing a release, and taking one back: what was published is never silently changed, and never silently gone."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from crowdrag.studies.models import User
from crowdrag.webhooks import outbox

from ...enums import PUBLIC_RELEASES, SERVED_RELEASES, ReleaseState
from ...models import Release
from . import drafting
from .drafting import ReleaseError


@transaction.atomic
def publish(*, release: Release, by: User | None = None, now: datetime | None = None) -> Release:
    """Publish a release that is built. From now on it is what it is.

    Raises
    ------
    ReleaseError
        if it is not built, or was published already.
    """
    now = now or timezone.now()
    held = drafting.locked(release.pk)
    if held.state != ReleaseState.READY:
        raise ReleaseError(_("Only a release that is built and not published yet can be published."))
    held.state, held.published_at, held.published_by = ReleaseState.PUBLISHED, now, by
    held.save(update_fields=["state", "published_at", "published_by"])
    assert held.run is not None, "a check of the table"
    address = held.run.parameters.get("address", "")
    outbox.publish_release_published(study=held.study, version=held.number, address=address, now=now)
    return held


@transaction.atomic
def lift_embargo(*, release: Release, now: datetime | None = None) -> Release:
    """Give the files out from now on.

    Raises
    ------
    ReleaseError
        if no embargo stands in the way.
    """
    now = now or timezone.now()
    held = drafting.locked(release.pk)
    if held.state not in SERVED_RELEASES or not is_embargoed(held, now):
        raise ReleaseError(_("There is no embargo to lift."))
    held.embargo_until = None
    held.save(update_fields=["embargo_until"])
    return held


@transaction.atomic
def withdraw(*, release: Release, reason: str, by: User | None = None, now: datetime | None = None) -> Release:
    """Take a published release back: its page stays and says why, its files are given to nobody any more.

    Raises
    ------
    ReleaseError
        if there is no reason, or nothing to take back.
    """
    if not reason.strip():
        raise ReleaseError(_("Say why: it stands on the release's page, for those who used it."))
    held = drafting.locked(release.pk)
    if held.state not in SERVED_RELEASES:
        raise ReleaseError(_("Only a published release can be withdrawn."))
    held.state, held.withdrawn_reason = ReleaseState.WITHDRAWN, reason.strip()
    held.withdrawn_at, held.withdrawn_by = now or timezone.now(), by
    held.save(update_fields=["state", "withdrawn_reason", "withdrawn_at", "withdrawn_by"])
    return held


def is_embargoed(release: Release, now: datetime) -> bool:
    """Say whether its files are kept back until later."""
    return release.embargo_until is not None and release.embargo_until > now


def is_public(release: Release) -> bool:
    """Say whether the public knows of it."""
    return release.state in PUBLIC_RELEASES


def is_served(release: Release, now: datetime) -> bool:
    """Say whether anybody may have its files."""
    return release.state in SERVED_RELEASES and not is_embargoed(release, now)


def newer(release: Release) -> Release | None:
    """Return the latest published version of the same study, if it is a later one."""
    later = Release.objects.filter(study=release.study_id, number__gt=release.number, state=ReleaseState.PUBLISHED)
    return later.newest_first().first()

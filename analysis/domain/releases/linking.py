"""Private links to a release: for those who may have its files before, or instead of, everybody."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from crowdrag.studies.entry import links as entry_links
from crowdrag.studies.models import User

from ...enums import ReleaseState
from ...models import Release, ReleaseLink
from .drafting import ReleaseError

#: What a private link shows: what is built and was not taken back.
SHOWN = (ReleaseState.READY, ReleaseState.PUBLISHED, ReleaseState.MARKED)
LONGEST = timedelta(days=366)
# That it was used is written down, but not with every part of a download.
OFTEN_ENOUGH = timedelta(minutes=10)


def make(
    *, release: Release, expires_at: datetime, label: str = "", by: User | None = None, now: datetime | None = None
) -> tuple[ReleaseLink, str]:
    """Make a link; return it with its key, which is kept nowhere else.

    Raises
    ------
    ReleaseError
        if it were to end before now or after more than a year, or there is nothing to be shown.
    """
    now = now or timezone.now()
    if not now < expires_at <= now + LONGEST:
        raise ReleaseError(_("A private link ends after a day at least and a year at most."))
    if release.state not in SHOWN:
        raise ReleaseError(_("There are no files to be shown: build the release first."))
    key = entry_links.make_key()
    link = ReleaseLink.objects.create(
        release=release,
        digest=entry_links.hash_key(key),
        label=label,
        created_at=now,
        created_by=by,
        expires_at=expires_at,
    )
    return link, key


def revoke(*, link: ReleaseLink, now: datetime | None = None) -> None:
    """Let a link open nothing any more; twice is once."""
    ReleaseLink.objects.filter(pk=link.pk, revoked_at__isnull=True).update(revoked_at=now or timezone.now())


def opened(given: str, *, now: datetime) -> ReleaseLink | None:
    """Return the link of this key, if it still opens something; that it was used is written down."""
    key = entry_links.read_key(given)
    if key is None:
        return None
    links = ReleaseLink.objects.select_related("release__study", "release__run")
    held = links.filter(
        digest=entry_links.hash_key(key), revoked_at__isnull=True, expires_at__gt=now, release__state__in=SHOWN
    ).first()
    if held is not None:
        seldom = Q(used_at__isnull=True) | Q(used_at__lt=now - OFTEN_ENOUGH)
        ReleaseLink.objects.filter(seldom, pk=held.pk).update(used_at=now)
    return held

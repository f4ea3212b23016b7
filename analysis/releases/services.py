"""Drafting, publishing and withdrawing releases, and private links. Published releases never change silently."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from crowdrag.studies.entry import links as entry_links
from crowdrag.studies.models import Study, User
from crowdrag.webhooks import outbox

from ..enums import PUBLIC_RELEASES, SERVED_RELEASES, ReleaseState
from . import storage
from .choices import Choices
from .models import Release, ReleaseLink

#: Metadata of a release, besides its choices.
SAID = ("title", "description", "creators", "doi", "notes", "embargo_until")


class ReleaseError(ValueError):
    """The release does not allow this; the message is for people."""


class ChoiceError(ReleaseError):
    """The choices are incompatible."""


@transaction.atomic
def create(
    *, study: Study, choices: Choices, by: User | None = None, now: datetime | None = None, **fields: Any
) -> Release:
    """Create a draft of the next version of a study.

    Parameters
    ----------
    fields
        Any of `SAID`; `title` is required.

    Raises
    ------
    ChoiceError
        If the choices are incompatible, or an embargo has already ended.
    """
    now = now or timezone.now()
    _check(choices)
    _check_embargo(fields.get("embargo_until"), now)
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # two simultaneous drafts get different numbers
    last = Release.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0
    return Release.objects.create(
        study=study,
        number=last + 1,
        choices=choices.as_json(),
        created_at=now,
        created_by=by,
        **_known(fields),
    )


@transaction.atomic
def change(*, release: Release, choices: Choices, now: datetime | None = None, **fields: Any) -> Release:
    """Change the contents and metadata of a release. A built release becomes a draft again.

    Raises
    ------
    ReleaseError
        If it is published or being built.
    ChoiceError
        If the choices are incompatible, or a new embargo has already ended.
    """
    _check(choices)
    held = locked(release.pk)
    if fields.get("embargo_until") != held.embargo_until:
        _check_embargo(fields.get("embargo_until"), now or timezone.now())
    if held.state == ReleaseState.READY:
        _unbuild(held)
    if held.state != ReleaseState.DRAFT:
        raise ReleaseError("You cannot change a release that is published or being built.")
    held.choices = choices.as_json()
    for name, value in _known(fields).items():
        setattr(held, name, value)
    held.save(update_fields=["choices", *_known(fields)])
    return held


@transaction.atomic
def discard(*, release: Release) -> None:
    """Delete a release that was never published.

    Raises
    ------
    ReleaseError
        If it was published, or is being built.
    """
    held = locked(release.pk)
    if held.state in PUBLIC_RELEASES:
        raise ReleaseError("You cannot delete a published release. Withdraw it and give a reason.")
    if held.state == ReleaseState.BUILDING:
        raise ReleaseError("The release is being built. Stop the build first.")
    storage.remove_all(held)
    held.delete()


def reopen(release: Release) -> None:
    """Return a built, unpublished release to draft; the caller holds its row lock."""
    _unbuild(release)


def latest(study: Study) -> Release | None:
    """Return the latest release of a study in any state; the next one starts with its choices."""
    return Release.objects.filter(study=study).newest_first().first()


def locked(pk: int) -> Release:
    """Return a release with its row locked."""
    return Release.objects.select_for_update(no_key=True, of=("self",)).select_related("study", "run").get(pk=pk)


def _unbuild(release: Release) -> None:
    storage.remove_all(release)
    release.files.all().delete()
    release.tables.all().delete()
    release.people.all().delete()
    release.state, release.digest, release.built_at = ReleaseState.DRAFT, "", None
    release.figures, release.left_out = {}, []
    release.save(update_fields=["state", "digest", "built_at", "figures", "left_out"])


def _check(choices: Choices) -> None:
    if problems := choices.problems():
        raise ChoiceError(" ".join(problems))


def _check_embargo(until: datetime | None, now: datetime) -> None:
    if until is not None and until <= now:
        raise ChoiceError("The embargo must end in the future. Leave the date empty to publish the files at once.")


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(fields) - set(SAID)):
        raise TypeError(f"A release has no field {', '.join(unknown)}.")
    return fields


@transaction.atomic
def publish(*, release: Release, by: User | None = None, now: datetime | None = None) -> Release:
    """Publish a built release. It does not change afterwards.

    Raises
    ------
    ReleaseError
        If it is not built, or was already published.
    """
    now = now or timezone.now()
    held = locked(release.pk)
    if held.state != ReleaseState.READY:
        raise ReleaseError("Build the release before you publish it. You can publish a release only once.")
    held.state, held.published_at, held.published_by = ReleaseState.PUBLISHED, now, by
    held.save(update_fields=["state", "published_at", "published_by"])
    assert held.run is not None, "a check of the table"
    address = held.run.parameters.get("address", "")
    outbox.publish_release_published(study=held.study, version=held.number, address=address, now=now)
    return held


@transaction.atomic
def lift_embargo(*, release: Release, now: datetime | None = None) -> Release:
    """End the embargo now.

    Raises
    ------
    ReleaseError
        If there is no embargo.
    """
    now = now or timezone.now()
    held = locked(release.pk)
    if held.state not in SERVED_RELEASES or not is_embargoed(held, now):
        raise ReleaseError("This release has no embargo.")
    held.embargo_until = None
    held.save(update_fields=["embargo_until"])
    return held


@transaction.atomic
def withdraw(*, release: Release, reason: str, by: User | None = None, now: datetime | None = None) -> Release:
    """Withdraw a published release: its page stays and shows the reason, its files are no longer available.

    Raises
    ------
    ReleaseError
        If the reason is missing, or the release is not published.
    """
    if not reason.strip():
        raise ReleaseError("Give a reason. It is shown on the release's public page.")
    held = locked(release.pk)
    if held.state not in SERVED_RELEASES:
        raise ReleaseError("Only a published release can be withdrawn.")
    held.state, held.withdrawn_reason = ReleaseState.WITHDRAWN, reason.strip()
    held.withdrawn_at, held.withdrawn_by = now or timezone.now(), by
    held.save(update_fields=["state", "withdrawn_reason", "withdrawn_at", "withdrawn_by"])
    return held


def is_embargoed(release: Release, now: datetime) -> bool:
    """Whether its files are under embargo."""
    return release.embargo_until is not None and release.embargo_until > now


def is_public(release: Release) -> bool:
    """Whether its page is public."""
    return release.state in PUBLIC_RELEASES


def is_served(release: Release, now: datetime) -> bool:
    """Whether its files are public."""
    return release.state in SERVED_RELEASES and not is_embargoed(release, now)


def newer(release: Release) -> Release | None:
    """Return the latest published version of the same study if it is newer than this one."""
    later = Release.objects.filter(study=release.study_id, number__gt=release.number, state=ReleaseState.PUBLISHED)
    return later.newest_first().first()


#: States in which private links work: built and not withdrawn.
SHOWN = (ReleaseState.READY, ReleaseState.PUBLISHED, ReleaseState.MARKED)
LONGEST = timedelta(days=366)
# Do not record the use of a link for every part of a download.
OFTEN_ENOUGH = timedelta(minutes=10)


def create_link(
    *, release: Release, expires_at: datetime, label: str = "", by: User | None = None, now: datetime | None = None
) -> tuple[ReleaseLink, str]:
    """Create a link; return it with its key, which is not stored.

    Raises
    ------
    ReleaseError
        If it would end in the past or after more than a year, or there is nothing to show.
    """
    now = now or timezone.now()
    if not now < expires_at <= now + LONGEST:
        raise ReleaseError("A private link must be valid for at least a day and at most a year.")
    if release.state not in SHOWN:
        raise ReleaseError("This release has no files yet. Build it first.")
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


def revoke_link(*, link: ReleaseLink, now: datetime | None = None) -> None:
    """Revoke a link; idempotent."""
    ReleaseLink.objects.filter(pk=link.pk, revoked_at__isnull=True).update(revoked_at=now or timezone.now())


def open_link(key_text: str, *, now: datetime) -> ReleaseLink | None:
    """Return the link with this key if it is still valid, and record its use."""
    key = entry_links.read_key(key_text)
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

"""Drafting, publishing and withdrawing releases, and private links: what was published never changes silently."""

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

#: What is said of a release beside its choices.
SAID = ("title", "description", "creators", "doi", "notes", "embargo_until")


class ReleaseError(ValueError):
    """It cannot be done with this release; the message is for people."""


class ChoiceError(ReleaseError):
    """The choices contradict each other."""


@transaction.atomic
def create(
    *, study: Study, choices: Choices, by: User | None = None, now: datetime | None = None, **fields: Any
) -> Release:
    """Make a draft of the next version of a study.

    Parameters
    ----------
    said
        any of `SAID`; `title` must be there.

    Raises
    ------
    ChoiceError
        if the choices do not go together, or an embargo is over already.
    """
    now = now or timezone.now()
    _check(choices)
    _check_embargo(fields.get("embargo_until"), now)
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # two drafts at once get two numbers
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
    """Change what a release is to hold and what is said of it. One that is built already is a draft again.

    Raises
    ------
    ReleaseError
        if it is published or being built.
    ChoiceError
        if the choices do not go together, or an embargo that was not there before is over already.
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
    """Throw a release away that was never published.

    Raises
    ------
    ReleaseError
        if it was published, or is being built.
    """
    held = locked(release.pk)
    if held.state in PUBLIC_RELEASES:
        raise ReleaseError("You cannot delete a published release. Withdraw it and give a reason.")
    if held.state == ReleaseState.BUILDING:
        raise ReleaseError("The release is being built. Stop the build first.")
    storage.remove_all(held)
    held.delete()


def reopen(release: Release) -> None:
    """Make a draft again of what is built but not published; the caller holds the release's row."""
    _unbuild(release)


def latest(study: Study) -> Release | None:
    """Return the latest release of a study, whatever became of it: the next one begins with its choices."""
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
        if it is not built, or was published already.
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
    """Give the files out from now on.

    Raises
    ------
    ReleaseError
        if no embargo stands in the way.
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
        if there is no reason, or nothing to take back.
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
    """Return the latest published version of the same study, if it is a later one."""
    later = Release.objects.filter(study=release.study_id, number__gt=release.number, state=ReleaseState.PUBLISHED)
    return later.newest_first().first()


#: What a private link shows: what is built and was not taken back.
SHOWN = (ReleaseState.READY, ReleaseState.PUBLISHED, ReleaseState.MARKED)
LONGEST = timedelta(days=366)
# That it was used is written down, but not with every part of a download.
OFTEN_ENOUGH = timedelta(minutes=10)


def create_link(
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
    """Return the link of this key, if it still opens something; that it was used is written down."""
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

"""Releases before they are built: what is said of them and what they are to hold can still be changed."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from crowdrag.studies.models import Study, User

from ...enums import PUBLIC_RELEASES, ReleaseState
from ...models import Release
from . import keeping
from .choices import Choices

#: What is said of a release beside its choices.
SAID = ("title", "description", "creators", "doi", "notes", "embargo_until")


class ReleaseError(ValueError):
    """It cannot be done with this release; the message is for people."""


class ChoiceError(ReleaseError):
    """What was chosen or said does not go together, whatever state the release is in."""


@transaction.atomic
def create(
    *, study: Study, choices: Choices, by: User | None = None, now: datetime | None = None, **said: Any
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
    _check_embargo(said.get("embargo_until"), now)
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # two drafts at once get two numbers
    last = Release.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0
    return Release.objects.create(
        study=study,
        number=last + 1,
        choices=choices.as_json(),
        created_at=now,
        created_by=by,
        **_known(said),
    )


@transaction.atomic
def change(*, release: Release, choices: Choices, now: datetime | None = None, **said: Any) -> Release:
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
    if said.get("embargo_until") != held.embargo_until:
        _check_embargo(said.get("embargo_until"), now or timezone.now())
    if held.state == ReleaseState.READY:
        _unbuild(held)
    if held.state != ReleaseState.DRAFT:
        raise ReleaseError(_("Only what is not published and not being built can be changed."))
    held.choices = choices.as_json()
    for name, value in _known(said).items():
        setattr(held, name, value)
    held.save(update_fields=["choices", *_known(said)])
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
        raise ReleaseError(_("What was published is not thrown away; withdraw it, and say why."))
    if held.state == ReleaseState.BUILDING:
        raise ReleaseError(_("It is being built: stop that first."))
    keeping.remove_all(held)
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
    keeping.remove_all(release)
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
        raise ChoiceError(_("An embargo ends in the future; leave it out to give the files out at once."))


def _known(said: dict[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(said) - set(SAID)):
        raise TypeError(f"A release does not say {', '.join(unknown)}.")
    return said

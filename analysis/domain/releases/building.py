"""Building a release: a run that looks for personal data, reads the study as it stood at one moment, writes all files,
and lists them when all are whole.

While it works nothing is listed, and nobody finds its files. Killed at any moment, it begins anew; what it left behind
is removed by the next who is at it, and by a duty.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.models import User

from ...enums import ReleaseState
from ...models import Release
from ..corpus import consistent
from . import drafting, keeping, listing, making
from .choices import Choices
from .drafting import ReleaseError
from .personal import searching

KIND = "release.build"


@transaction.atomic
def start(*, release: Release, by: User | None = None, address: str = "", now: datetime | None = None) -> Run:
    """Start building a draft. `address` is that of its public page, to be written into its files.

    Raises
    ------
    ReleaseError
        if it is no draft.
    """
    held = drafting.locked(release.pk)
    if held.state != ReleaseState.DRAFT:
        raise ReleaseError(_("Only a draft is built; change it, and it is one again."))
    keeping.remove_all(held)  # of an earlier run that came to nothing
    run = lifecycle.start(
        study=held.study, kind=KIND, parameters={"release": held.number, "address": address}, by=by, now=now
    )
    held.run, held.state = run, ReleaseState.BUILDING
    held.save(update_fields=["run", "state"])
    return run


@transaction.atomic
def stop(*, release: Release, by: User | None = None, now: datetime | None = None) -> Release:
    """Stop building, and make a draft of it again; also of one whose run failed.

    Raises
    ------
    ReleaseError
        if it is not being built.
    """
    run = Release.objects.select_related("run").get(pk=release.pk).run
    # The run's row first: its effect holds it too when it comes to the release's.
    if run is not None and run.is_active:
        with suppress(lifecycle.NotActiveError):  # it ended in this moment: what came of it is seen next
            lifecycle.cancel(run=run, by=by, now=now)
    held = drafting.locked(release.pk)
    if held.state != ReleaseState.BUILDING:
        raise ReleaseError(_("It is not being built."))
    drafting.reopen(held)
    return held


def of_run(run: Run) -> Release:
    """Return the release that a run builds.

    Raises
    ------
    kinds.InputRejectedError
        if it is no more: it was thrown away, or another run is at it.
    """
    found = Release.objects.filter(study=run.study_id, run=run, state=ReleaseState.BUILDING).select_related("study")
    if (release := found.first()) is None:
        raise kinds.InputRejectedError([{"message": _("There is no release for this run to build any more.")}])
    return release


def plan(_run: Run) -> Iterator[dict[str, Any] | kinds.LaterUnit]:
    """Look for personal data first: what nobody has decided on is left out, and shown for decision."""
    yield {"do": "look"}
    yield kinds.LaterUnit(1, {"do": "write"})


def work(work: kinds.Work) -> Callable[[], None]:
    """Look for personal data, or write the files; the effect keeps what was found, or lists them."""
    release = of_run(work.run)
    return _look(work, release) if work.unit.payload["do"] == "look" else _write(work, release)


def _look(work: kinds.Work, release: Release) -> Callable[[], None]:
    def told(done: int, where: object) -> None:
        work.report(done, 0, str(where))

    choices = Choices.from_json(release.choices)
    return searching.look(study=release.study, choices=choices, now=timezone.now(), report=told)


def _write(work: kinds.Work, release: Release) -> Callable[[], None]:
    now = timezone.now()
    folder = keeping.workplace(work)
    try:
        with consistent.reading():
            made = making.make(release, folder, report=work.report)
        digest = listing.digest(folder)
        listed = listing.move_in(work, folder, made)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return partial(_list, work.run, made, listed, digest, now)


def _list(run: Run, made: making.Made, files: list[listing.Listed], digest: str, now: datetime) -> None:
    release = drafting.locked(of_run(run).pk)
    listing.add(release, made, files)
    release.state, release.built_at = ReleaseState.READY, now
    release.digest, release.schema_version = digest, made.manifest["schema_version"]
    release.figures, release.left_out = made.figures, made.left_out
    release.save(update_fields=["state", "built_at", "digest", "schema_version", "figures", "left_out"])
    lifecycle.note(run=run, summary={"version": release.number, "files": len(files)}, inputs_digest=digest)
    # What a worker left that was killed at it, or that a claim before this one put in.
    transaction.on_commit(partial(keeping.remove_unlisted, str(run.key)))


def result_url(run: Run) -> str:
    """Where the release is shown."""
    return reverse("release", args=[run.study.slug, run.parameters["release"]])


def register() -> None:
    """Make building known to the runs; called once when the app is ready."""
    kinds.register(
        kinds.Kind(
            name=KIND,
            title=gettext_lazy("Building a release"),
            plan=plan,
            work=work,
            result_url=result_url,
            told=lambda run: {str(_("Version")): run.parameters["release"]},
        )
    )

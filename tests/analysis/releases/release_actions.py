"""Making releases, in tests: through the functions that pages call, built by the run that builds them for real."""

from datetime import datetime
from typing import Any

from analysis.models import Release
from analysis.releases import builds, services
from analysis.releases.choices import Choices
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Study


def drafted(study: Study, choices: Choices | None = None, **said: Any) -> Release:
    """A draft of the study's next version."""
    return services.create(study=study, choices=choices or Choices(), **{"title": study.title} | said)


def built(study: Study, choices: Choices | None = None, **said: Any) -> Release:
    """A version that is built; the run is worked on in this process."""
    release = drafted(study, choices, **said)
    run = lifecycle.wait(builds.start(release=release))
    assert (run.state, run.error) == (RunState.DONE, "")
    release.refresh_from_db()
    return release


def published(study: Study, choices: Choices | None = None, *, now: datetime | None = None, **said: Any) -> Release:
    """A version that is published."""
    return services.publish(release=built(study, choices, **said), now=now)

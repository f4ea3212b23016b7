"""A process that works on a run of the planted experiment, asking its real endpoint: `python -m ... KEY`."""

import os
import sys

import pytest


def main(key: str) -> None:
    """Work on the run until it is done."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdrag.settings")
    django.setup()
    from django.conf import settings

    settings.RUNS_LEASE_SECONDS = 2
    from crowdrag.jobs import worker
    from crowdrag.jobs.models import Run
    from tests.analysis.experiments import planted

    with pytest.MonkeyPatch.context() as patch:
        planted.install(patch)
        run = Run.objects.get(key=key)
        while worker.work_next(run):
            pass


if __name__ == "__main__":
    main(sys.argv[1])

"""A process that works on a run with the planted generator, slowly enough to be killed: `python -m ... KEY`."""

import os
import sys
import time


def main(key: str) -> None:
    """Work on the run until it is done."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdrag.settings")
    django.setup()
    from django.conf import settings

    settings.RUNS_LEASE_SECONDS = 2
    from analysis.domain.experiments import staging
    from crowdrag.runs.domain import executing
    from crowdrag.runs.models import Run
    from tests.analysis.rag.fair.planted import Planted

    answer = Planted._answer

    def slowly(self, content: str):
        time.sleep(0.01)
        return answer(self, content)

    Planted._answer = slowly  # type: ignore[method-assign]
    made = Planted()
    staging.generator = lambda run, named="": made  # type: ignore[assignment]
    run = Run.objects.get(key=key)
    while executing.work_next(run):
        pass


if __name__ == "__main__":
    main(sys.argv[1])

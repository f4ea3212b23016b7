"""Settings of workers that tests start, kill and stop: short leases, and the tests' kinds of runs."""

from crowdrag.settings import *  # noqa: F403
from crowdrag.settings import CELERY_BROKER_TRANSPORT_OPTIONS, INSTALLED_APPS, MIDDLEWARE, env

# The apps above runs are left out: these workers start often, and shall start quickly.
ABOVE = {"crowdrag.llm", "writing", "annotation", "analysis", "crowdrag.demo", "crowdrag.operations"}
INSTALLED_APPS = [*(app for app in INSTALLED_APPS if app not in ABOVE), "tests.jobs.kinds_app"]
MIDDLEWARE = [each for each in MIDDLEWARE if not each.startswith("crowdrag.operations")]
ROOT_URLCONF = "crowdrag.jobs.urls"
RUNS_LEASE_SECONDS = env.float("TEST_LEASE", default=2)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    **CELERY_BROKER_TRANSPORT_OPTIONS,
    "visibility_timeout": env.int("TEST_VISIBILITY", default=3600),
    "unacked_restore_interval": 1,
}

"""Settings of the processes that these tests start and kill: the gateway's own apps only, so that they start soon."""

from crowdrag.settings import *  # noqa: F403 - settings are all names of a module

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "pgtrigger",
    "crowdrag.studies",
    "crowdrag.llm",
]

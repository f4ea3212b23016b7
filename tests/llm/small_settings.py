"""The settings of the processes that these tests start and kill: only the gateway's own apps, so that they start soon."""

from crowdrag.settings import *

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "pgtrigger",
    "crowdrag.studies",
    "crowdrag.llm",
]

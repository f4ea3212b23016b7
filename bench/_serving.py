"""Settings of the web server that the intake of events is measured on: CrowdRAG's own, and one URL more."""

from crowdrag.settings import *  # noqa: F403 - settings are all names of a module

ROOT_URLCONF = "bench._bare"

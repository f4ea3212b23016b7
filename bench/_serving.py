"""Settings of the web server that measures event ingestion: CrowdRAG's own, plus one URL."""

from crowdrag.settings import *  # noqa: F403 - settings are all names of a module

ROOT_URLCONF = "bench._bare"

"""The ground floor of CrowdRAG: settings, urls, celery, and what every app stands on."""

from crowdrag.celery import app as celery_app

__all__ = ["celery_app"]
__version__ = "0.2.0"

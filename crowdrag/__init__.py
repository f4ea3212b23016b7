"""The ground floor of CrowdRAG: settings, urls, celery, and what every app stands on."""

__version__ = "0.2.0"

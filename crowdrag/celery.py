"""Celery carries the work; the database holds the truth about it (docs/adr/0001)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdrag.settings")

app = Celery("crowdrag")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

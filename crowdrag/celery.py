"""The Celery application. The database holds the state of all work (docs/adr/0001)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdrag.settings")

app = Celery("crowdrag")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

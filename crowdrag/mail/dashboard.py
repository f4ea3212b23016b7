"""Emails on a participant's dashboard."""

from typing import Any

from django.conf import settings

from crowdrag.studies.models import Participant

from . import services


def section(participant: Participant) -> dict[str, Any] | None:
    """Return what the dashboard shows of emails; None where this system sends none."""
    return {"own_address": services.own_address(participant)} if settings.SENDS_MAIL else None

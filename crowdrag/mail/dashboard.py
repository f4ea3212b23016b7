"""Emails on a participant's dashboard."""

from typing import Any

from django.conf import settings

from crowdrag.studies.models import Participant

from . import services


def section(participant: Participant) -> dict[str, Any] | None:
    """Return the context of the section; None if this system sends no emails."""
    return {"own_address": services.own_address(participant)} if settings.SENDS_MAIL else None

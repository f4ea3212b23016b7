"""Making and describing studies."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from ..enums import Role
from ..models import Membership, Study, User


@transaction.atomic
def describe(*, study: Study, **fields: Any) -> Study:
    """Change what a study says of itself; what else holds of it stays as it is."""
    for name, value in fields.items():
        setattr(study, name, value)
    study.save(update_fields=[*fields])
    return study


@transaction.atomic
def create(*, slug: str, title: str, by: User | None, now: datetime | None = None, **fields: Any) -> Study:
    """Make a study; whoever makes it owns it."""
    now = now or timezone.now()
    study = Study.objects.create(slug=slug, title=title, created_by=by, created_at=now, **fields)
    if by is not None:
        Membership.objects.create(study=study, user=by, role=Role.OWNER, added_at=now, added_by=by)
    return study

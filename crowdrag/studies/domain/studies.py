"""Making and describing studies."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from ..enums import Role
from ..models import Membership, Study, User

#: Fields whose values are checked wherever a study is made: its short name, and codes of a standard.
CHECKED: Final = {"slug", "language", "text_licence", "currency"}


@transaction.atomic
def describe(*, study: Study, **fields: Any) -> Study:
    """Change what a study says of itself; what else holds of it stays as it is."""
    for name, value in fields.items():
        setattr(study, name, value)
    study.save(update_fields=[*fields])
    return study


@transaction.atomic
def create(*, slug: str, title: str, by: User | None, now: datetime | None = None, **fields: Any) -> Study:
    """Make a study; whoever makes it owns it.

    Raises
    ------
    ValidationError
        for a short name that no address can hold or that another page has, and for a language, licence or currency
        that no standard knows.
    """
    now = now or timezone.now()
    study = Study(slug=slug, title=title, created_by=by, created_at=now, **fields)
    study.clean_fields(exclude={field.name for field in Study._meta.fields} - CHECKED)
    study.clean()
    study.save(force_insert=True)
    if by is not None:
        Membership.objects.create(study=study, user=by, role=Role.OWNER, added_at=now, added_by=by)
    return study


@transaction.atomic
def discard(study: Study) -> bool:
    """Remove a study into which nothing was put, with its runs that ended; say whether it was removed.

    A study that holds anything else stays: a member, a text, a run that is still at work.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if any(run.is_active for run in study.runs.all()):
        return False
    relations = [relation for relation in Study._meta.related_objects if relation.get_accessor_name() != "runs"]
    if any(
        relation.related_model._base_manager.filter(**{relation.field.name: study}).exists() for relation in relations
    ):
        return False
    study.delete()
    return True

"""Create and describe studies, and set the roles of members."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from ..enums import Role
from .closure import Closure, refuse_if_in_use
from .models import Membership, Study, User

#: Fields whose values are checked wherever a study is made: its short name, and codes of a standard.
VALIDATED_FIELDS: Final = {"slug", "language", "text_licence", "currency"}


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
    study.clean_fields(exclude={field.name for field in Study._meta.fields} - VALIDATED_FIELDS)
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


@transaction.atomic
def archive(*, study: Study, by: User, now: datetime | None = None) -> Study:
    """Let a study only be read from now on, and leave it out of the list of studies; again, it stays as it is.

    Raises
    ------
    StudyInUseError
        While people work in it, somebody waits for an answer, or a run is active.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if not study.is_archived:
        refuse_if_in_use(study, Closure.ARCHIVE)
        study.archived_at, study.archived_by = now or timezone.now(), by
        study.save(update_fields=["archived_at", "archived_by"])
    return study


@transaction.atomic
def restore(*, study: Study) -> Study:
    """Let an archived study be changed again."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    study.archived_at = study.archived_by = None
    study.save(update_fields=["archived_at", "archived_by"])
    return study


class NotConfirmedError(ValueError):
    """A deletion is confirmed by typing the study's short name."""

    def __init__(self, study: Study):
        super().__init__(f"Type the short name of the study to confirm: {study.slug}")


@transaction.atomic
def request_deletion(*, study: Study, confirmation: str, by: User, now: datetime | None = None) -> Study:
    """Have a study deleted with all that it holds. From now on nobody can open it; its rows go in the background.

    Raises
    ------
    NotConfirmedError
        If `confirmation` is not the study's short name.
    StudyInUseError
        If something in it is published or paid, or work goes on in it.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if confirmation != study.slug:
        raise NotConfirmedError(study)
    if study.deletion_requested_at is None:
        refuse_if_in_use(study, Closure.DELETE)
        study.deletion_requested_at, study.deletion_requested_by = now or timezone.now(), by
        study.save(update_fields=["deletion_requested_at", "deletion_requested_by"])
    return study


class LastOwnerError(ValueError):
    """A study must keep an owner."""

    def __init__(self) -> None:
        super().__init__("This is the only owner of the study. Make someone else an owner first.")


@transaction.atomic
def set_role(*, study: Study, user: User, role: Role, by: User | None, now: datetime | None = None) -> Membership:
    """Give a user a role in a study, whether they had one or not."""
    _keep_an_owner(study, user, becomes_owner=role == Role.OWNER)
    if role < Role.OWNER:
        _revoke_invitations(study, user, now or timezone.now())
    membership, _created = Membership.objects.update_or_create(
        study=study,
        user=user,
        defaults={"role": role},
        create_defaults={"role": role, "added_at": now or timezone.now(), "added_by": by},
    )
    return membership


@transaction.atomic
def remove_member(*, study: Study, user: User) -> None:
    """Take a user out of a study."""
    _keep_an_owner(study, user, becomes_owner=False)
    _revoke_invitations(study, user, timezone.now())
    Membership.objects.filter(study=study, user=user).delete()


def _revoke_invitations(study: Study, user: User, now: datetime) -> None:
    """Revoke what somebody made who may not invite any more: else their own link would lead them back in."""
    study.invitations.pending(now).filter(created_by=user).update(revoked_at=now)


def _keep_an_owner(study: Study, user: User, *, becomes_owner: bool) -> None:
    # The study's row is the lock: two owners who demote each other at once must not both succeed.
    Study.objects.select_for_update().get(pk=study.pk)
    owners = set(Membership.objects.filter(study=study, role=Role.OWNER).values_list("user_id", flat=True))
    if not becomes_owner and owners == {user.pk}:
        raise LastOwnerError

"""Create and describe studies, and set the roles of members."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from ..enums import Role
from .closure import Closure, refuse_if_in_use
from .models import Membership, Study, User

#: Fields that are validated wherever a study is created: its short name, and codes of a standard.
VALIDATED_FIELDS: Final = {"slug", "language", "text_licence", "currency"}


@transaction.atomic
def describe(*, study: Study, **fields: Any) -> Study:
    """Change the description of a study; everything else stays as it is."""
    for name, value in fields.items():
        setattr(study, name, value)
    study.save(update_fields=[*fields])
    return study


@transaction.atomic
def create(*, slug: str, title: str, by: User | None, now: datetime | None = None, **fields: Any) -> Study:
    """Create a study; its creator becomes its owner.

    Raises
    ------
    ValidationError
        for a short name that no URL can hold or that another page has, and for a language, licence or currency that no
        standard knows.
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
    """Remove an empty study with its completed runs; return whether it was removed.

    A study that contains anything else stays: a member, a text, an active run.
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
    """Make a study read-only, and leave it out of the list of studies. Idempotent.

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
    """Restore an archived study, so that it can be changed again."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    study.archived_at = study.archived_by = None
    study.save(update_fields=["archived_at", "archived_by"])
    return study


class NotConfirmedError(ValueError):
    """A deletion must be confirmed by typing the study's short name."""

    def __init__(self, study: Study):
        super().__init__(f"Type the short name of the study to confirm: {study.slug}")


@transaction.atomic
def request_deletion(*, study: Study, confirmation: str, by: User, now: datetime | None = None) -> Study:
    """Request the deletion of a study with all its data. It can no longer be opened; its rows go in the background.

    Raises
    ------
    NotConfirmedError
        If `confirmation` is not the study's short name.
    StudyInUseError
        If something in it is published or paid, or work is in progress.
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
    """Set a user's role in a study, and make them a member if they are not."""
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
    """Remove a user from a study."""
    _keep_an_owner(study, user, becomes_owner=False)
    _revoke_invitations(study, user, timezone.now())
    Membership.objects.filter(study=study, user=user).delete()


class OnlyOwnerError(ValueError):
    """A user is the only active owner of some studies, which must keep one."""

    def __init__(self, studies: list[Study]):
        titles = ", ".join(f"“{study.title}”" for study in studies)
        super().__init__(f"This person is the only active owner of {titles}. Make someone else an owner first.")
        self.studies = studies


def solely_owned(user: User) -> list[Study]:
    """Return the studies that have no other active owner."""
    owners = Membership.objects.filter(study=OuterRef("pk"), role=Role.OWNER, user__is_active=True)
    studies = Study.objects.filter(
        ~Exists(owners.exclude(user=user)),
        memberships__user=user,
        memberships__role=Role.OWNER,
        deletion_requested_at__isnull=True,
    )
    return list(studies.order_by("title", "id"))


@transaction.atomic
def leave_all_studies(*, user: User) -> None:
    """Remove a user from all studies.

    Raises
    ------
    OnlyOwnerError
        If a study would have no active owner.
    """
    memberships = Membership.objects.filter(user=user)
    # As for a single study, the rows are the locks.
    list(Study.objects.select_for_update().filter(pk__in=memberships.values("study")).order_by("pk"))
    if studies := solely_owned(user):
        raise OnlyOwnerError(studies)
    memberships.delete()


def _revoke_invitations(study: Study, user: User, now: datetime) -> None:
    """Revoke the invitations of a user who may no longer invite: their own link would let them in again."""
    study.invitations.pending(now).filter(created_by=user).update(revoked_at=now)


def _keep_an_owner(study: Study, user: User, *, becomes_owner: bool) -> None:
    # The study's row is the lock: two owners who demote each other at once must not both succeed.
    Study.objects.select_for_update().get(pk=study.pk)
    owners = set(Membership.objects.filter(study=study, role=Role.OWNER).values_list("user_id", flat=True))
    if not becomes_owner and owners == {user.pk}:
        raise LastOwnerError

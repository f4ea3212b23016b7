"""Sign users out everywhere, and remove accounts. Both are recorded in the history of the account."""

import secrets
from datetime import datetime

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from crowdrag.studies.models import User
from crowdrag.studies.study import invitations
from crowdrag.studies.study import services as study_services

from .models import ApiToken


class OwnAccountError(ValueError):
    """Operators cannot remove their own accounts, so one operator always remains."""

    def __init__(self) -> None:
        super().__init__("You cannot remove your own account. Ask another operator to do it.")


@transaction.atomic
def sign_out_everywhere(*, user: User, by: User, now: datetime | None = None) -> User:
    """End all sessions of a user, and revoke all API tokens; return the user with the new state."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    user.signed_out_at = now or timezone.now()
    user.save(update_fields=["signed_out_at"])
    ApiToken.objects.filter(user=user).delete()
    _record(user, by, "Signed out everywhere, API tokens revoked.")
    return user


@transaction.atomic
def remove_account(*, user: User, by: User, now: datetime | None = None) -> User:
    """Remove an account: nobody can use it, and nothing in it identifies a person. Idempotent.

    The row stays, since decisions, payments and the access log refer to it.

    Raises
    ------
    OwnAccountError
        If a user removes the account that they are signed in with.
    OnlyOwnerError
        If a study would have no active owner.
    """
    if user.pk == by.pk:
        raise OwnAccountError
    now = now or timezone.now()
    # Both are locked, in one order: two operators who remove each other at once must not both succeed.
    locked = User.objects.select_for_update(no_key=True).filter(pk__in=[user.pk, by.pk]).order_by("pk")
    rows = {row.pk: row for row in locked}
    user, by = rows[user.pk], rows[by.pk]
    if not (by.is_active and by.is_superuser):
        raise PermissionDenied
    if user.removed_at is not None:
        return user
    study_services.leave_all_studies(user=user)
    invitations.forget_person(user=user, by=by, now=now)
    ApiToken.objects.filter(user=user).delete()
    _anonymise(user, now)
    # Somebody may have added the user to a study until the row of the user was changed.
    user.memberships.all().delete()
    _entries(user).update(object_repr=str(user))
    _record(user, by, "Account removed.")
    return user


def _anonymise(user: User, now: datetime) -> None:
    user.name = f"Removed account {user.pk}"
    # The random part keeps others from taking the address first.
    user.email = f"removed-{user.pk}-{secrets.token_hex(4)}@account.invalid"
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login, user.signed_out_at, user.removed_at = None, now, now
    user.set_unusable_password()
    user.save()
    user.groups.clear()
    user.user_permissions.clear()


def _entries(user: User) -> QuerySet[LogEntry]:
    """Return the history of an account."""
    content_type = ContentType.objects.get_for_model(User)
    return LogEntry.objects.filter(content_type=content_type, object_id=str(user.pk))


def _record(user: User, by: User, message: str) -> None:
    LogEntry.objects.log_actions(by.pk, [user], CHANGE, message, single_object=True)

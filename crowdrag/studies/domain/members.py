"""Who may do what in a study."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ..enums import Role
from ..models import Membership, Study, User


class LastOwnerError(ValueError):
    """A study must keep an owner."""

    def __init__(self) -> None:
        super().__init__(_("This is the study's only owner. Make somebody else an owner first."))


@transaction.atomic
def set_role(*, study: Study, user: User, role: Role, by: User | None, now: datetime | None = None) -> Membership:
    """Give a user a role in a study, whether they had one or not."""
    _keep_an_owner(study, user, becomes_owner=role == Role.OWNER)
    membership, _created = Membership.objects.update_or_create(
        study=study,
        user=user,
        defaults={"role": role},
        create_defaults={"role": role, "added_at": now or timezone.now(), "added_by": by},
    )
    return membership


@transaction.atomic
def remove(*, study: Study, user: User) -> None:
    """Take a user out of a study."""
    _keep_an_owner(study, user, becomes_owner=False)
    Membership.objects.filter(study=study, user=user).delete()


def _keep_an_owner(study: Study, user: User, *, becomes_owner: bool) -> None:
    # The study's row is the lock: two owners who demote each other at once must not both succeed.
    Study.objects.select_for_update().get(pk=study.pk)
    owners = set(Membership.objects.filter(study=study, role=Role.OWNER).values_list("user_id", flat=True))
    if not becomes_owner and owners == {user.pk}:
        raise LastOwnerError

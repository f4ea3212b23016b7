"""Assign submitted work to a reviewer. The assignee is responsible for it; other reviewers may still decide."""

from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Membership, Study, User

from .lifecycle import Lifecycle, Work
from .problems import NotAllowed, NotAReviewer

SUBMITTED: Final = "SUBMITTED"
MINE: Final = "me"
NOBODY: Final = "nobody"
CHOICES: Final = (("", "Anybody"), (MINE, "Me"), (NOBODY, "Nobody"))


def reviewers(study: Study) -> QuerySet[User]:
    """Return the members to whom work can be assigned, by name."""
    members = User.objects.filter(memberships__study=study, memberships__role__gte=Role.REVIEWER, is_active=True)
    return members.order_by("name", "email", "pk")


def of(member: User | None) -> Q:
    """Match work assigned to this member; none if there is no member."""
    return Q(assignee__isnull=False, assignee=member.pk if member else 0)


def matching(value: str, by: User) -> Q:
    """Match work by the assignment filter: to me, to nobody, or any."""
    return {MINE: Q(assignee=by), NOBODY: Q(assignee__isnull=True)}.get(value, Q())


def not_of_others(study: Study, by: User) -> Q:
    """Match work from which a reviewer's next item is chosen: theirs, unassigned, or of a former reviewer."""
    members = Membership.objects.filter(study=study, user=OuterRef("assignee"), role__gte=Role.REVIEWER)
    return Q(assignee__isnull=True) | Q(assignee=by) | Q(~Exists(members))


@transaction.atomic
def assign(life: Lifecycle[Work], work: Work, study: Study, to: User | None) -> Work:
    """Assign work that awaits review to a reviewer of the study, or to nobody. Idempotent.

    Raises
    ------
    NotAllowed, NotAReviewer
    """
    work = life.lock(work)
    if work.state != SUBMITTED:
        raise NotAllowed(work, SUBMITTED)
    if to is not None and not Study.objects.for_user(to, Role.REVIEWER).filter(pk=study.pk).exists():
        raise NotAReviewer(to)
    life.rows.filter(pk=work.pk).update(assignee=to)
    work.assignee = to
    return work


def email_of(work: Any) -> str | None:
    """Return the email address of the assignee."""
    return work.assignee.email if work.assignee else None

"""Invite people to a study by email or by a link, revoke invitations, and accept them."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Final

from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q
from django.template.loader import render_to_string

from ..enums import Role
from . import services
from .models import Invitation, Membership, Study, User

#: Enough for a team, too few to flood mailboxes.
MAX_PENDING: Final = 50
MAX_PER_DAY: Final = 100
LIFETIMES: Final = {1: "1 day", 7: "7 days", 30: "30 days"}


class InvitationError(ValueError):
    """An invitation that cannot be created or accepted; the message says why."""


class TooManyInvitationsError(InvitationError):
    """Too many pending invitations."""

    def __init__(self, most: int, when: str):
        super().__init__(f"You can have at most {most} invitations {when}. Revoke some, or try again later.")


class AlreadyMemberError(InvitationError):
    """The invited person is already a member."""

    def __init__(self, email: str):
        super().__init__(f"{email} is a member of this study already. Change the role instead.")


class NotPendingError(InvitationError):
    """The invitation was used or revoked, or has expired."""

    def __init__(self, invitation: Invitation):
        if invitation.accepted_at:
            reason = "has already been used"
        elif invitation.revoked_at:
            reason = "was revoked"
        else:
            reason = "has expired"
        super().__init__(f"This invitation {reason}. Ask {invitation.created_by} for a new one.")


class WrongAccountError(InvitationError):
    """The invitation is for another address."""

    def __init__(self, invitation: Invitation, user: User):
        super().__init__(
            f"This invitation is for {invitation.email}, but you are signed in as {user.email}. Sign out and open the "
            "link again, or ask for an invitation to your address."
        )


@dataclass(frozen=True)
class NewInvitation:
    """An invitation with its link, which is known only now; `problem` says why no email was sent, if so."""

    invitation: Invitation
    link: str
    problem: str = ""


def invite(
    *,
    study: Study,
    role: Role,
    lasts: timedelta,
    link_of: Callable[[str], str],
    by: User,
    now: datetime,
    email: str = "",
) -> NewInvitation:
    """Invite a person; with an address, the link is sent there. An earlier invitation to the address is revoked.

    Raises
    ------
    TooManyInvitationsError, AlreadyMemberError
    """
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if email and Membership.objects.filter(study=study, user__email__iexact=email).exists():
            raise AlreadyMemberError(email)
        if email:
            earlier = study.invitations.pending(now).filter(email__iexact=email)
            earlier.update(revoked_at=now, revoked_by=by)
        if study.invitations.pending(now).count() >= MAX_PENDING:
            raise TooManyInvitationsError(MAX_PENDING, "open at a time")
        if Invitation.objects.filter(created_by=by, created_at__gt=now - timedelta(days=1)).count() >= MAX_PER_DAY:
            raise TooManyInvitationsError(MAX_PER_DAY, "a day")
        invitation = Invitation.objects.create(
            study=study, role=role, email=email, token_hash=_digest(token), created_at=now, created_by=by,
            expires_at=now + lasts,
        )  # fmt: skip
    link = link_of(token)
    return NewInvitation(invitation, link, _send(invitation, link) if email else "")


@transaction.atomic
def revoke(*, study: Study, invitation: int, by: User, now: datetime) -> bool:
    """Revoke a pending invitation; return whether there was one."""
    rows = study.invitations.pending(now).filter(pk=invitation)
    return bool(rows.update(revoked_at=now, revoked_by=by))


@transaction.atomic
def forget_person(*, user: User, by: User, now: datetime) -> None:
    """Revoke the pending invitations from and to a user, and clear the user's address in all."""
    to_user = Q(email__iexact=user.email) | Q(accepted_by=user, email__gt="")
    # First revoked: an invitation without an address would be for anybody who has the link.
    pending = Invitation.objects.pending(now).filter(to_user | Q(created_by=user))
    pending.update(revoked_at=now, revoked_by=by)
    Invitation.objects.filter(to_user).update(email="")


def find(token: str) -> Invitation | None:
    """Return the invitation of an opened link, in any state."""
    invitations = Invitation.objects.select_related("study", "created_by")
    return invitations.filter(token_hash=_digest(token)).first()


def require_pending(invitation: Invitation, now: datetime) -> None:
    """Raise `NotPendingError` for an invitation that can no longer be accepted."""
    if invitation.accepted_at or invitation.revoked_at or invitation.expires_at <= now:
        raise NotPendingError(invitation)


@transaction.atomic
def accept(*, invitation: Invitation, user: User, now: datetime) -> Membership:
    """Make the user a member. A higher role is kept. Idempotent for the same person.

    Raises
    ------
    NotPendingError, WrongAccountError
    """
    # Locked: if two people open the link at once, one becomes a member.
    invitation = (
        Invitation.objects.select_for_update(of=("self",)).select_related("study", "created_by").get(pk=invitation.pk)
    )
    membership = Membership.objects.filter(study=invitation.study, user=user).first()
    if membership is not None and invitation.accepted_by_id == user.pk:
        return membership
    require_pending(invitation, now)
    if invitation.email and invitation.email.casefold() != user.email.casefold():
        raise WrongAccountError(invitation, user)
    Invitation.objects.filter(pk=invitation.pk).update(accepted_at=now, accepted_by=user)
    if membership is not None and membership.role >= invitation.role:
        return membership
    return services.set_role(
        study=invitation.study, user=user, role=Role(invitation.role), by=invitation.created_by, now=now
    )


@transaction.atomic
def accept_as_new(*, invitation: Invitation, email: str, name: str, password: str, now: datetime) -> User:
    """Create an account and make it a member. An invitation to an address creates an account with this address."""
    user = User.objects.create_user(invitation.email or email, password, name=name)
    accept(invitation=invitation, user=user, now=now)
    return user


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _send(invitation: Invitation, link: str) -> str:
    """Send an invitation, which is already stored; return what went wrong, or nothing."""
    text = render_to_string("studies/study/invitation_email.txt", {"invitation": invitation, "link": link})
    subject = f"Invitation to the study “{' '.join(invitation.study.title.split())}”"
    try:
        send_mail(subject, text, None, [invitation.email])
    except (OSError, SMTPException):
        return "The email could not be sent. Copy the link and send it yourself."
    return ""

"""API tokens: issue, find, revoke."""

import hmac
import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from knox.models import get_digest_token
from knox.settings import CONSTANTS

from crowdrag.studies.models import Study, User
from crowdrag.studies.study.models import StudyQuerySet

from .enums import Scope
from .models import ApiToken, Grant

MAX_LIFETIME = timedelta(days=366)


class TooLongError(ValueError):
    """A token must expire within a year."""

    def __init__(self) -> None:
        super().__init__(f"A token lasts for {MAX_LIFETIME.days} days at most.")


@transaction.atomic
def issue(
    *,
    by: User,
    name: str,
    scopes: Iterable[Scope],
    studies: Iterable[Study] | None,
    lasts: timedelta,
    now: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Create a token for a user; return it with the text to show, which is not stored.

    Parameters
    ----------
    scopes
        its scopes; reading is always included.
    studies
        its studies; None for every study of the user, including future ones. Creating studies needs no study.

    Raises
    ------
    TooLongError
        for a lifetime of more than a year.
    """
    if lasts > MAX_LIFETIME:
        raise TooLongError
    digest, text = get_digest_token()
    now = now or timezone.now()
    token = ApiToken.objects.create(
        digest=digest,
        token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH],
        user=by,
        name=name,
        created=now,
        expiry=now + lasts,
        password_digest=password_digest(by),
    )
    chosen = {Scope.READ, *scopes}
    where = [None] if studies is None else [*studies]
    grants = [Grant(token=token, study=study, scope=scope) for study in where for scope in chosen - {Scope.CREATE}]
    grants += [Grant(token=token, scope=Scope.CREATE)] if Scope.CREATE in chosen else []
    Grant.objects.bulk_create(grants)
    return token, text


def password_digest(user: User) -> str:
    """Return a digest that changes with the user's password, as in Django's sessions, and does not reveal it."""
    return user.get_session_auth_hash()


def predates_password(token: ApiToken) -> bool:
    """Return whether the owner has changed the password since; a token of an earlier release is bound on first use."""
    return bool(token.password_digest) and not hmac.compare_digest(token.password_digest, password_digest(token.user))


def revoke(*, by: User, key: uuid.UUID) -> bool:
    """Revoke one of the user's tokens; return whether there was one."""
    deleted, _rows = ApiToken.objects.filter(user=by, key=key).delete()
    return bool(deleted)


def note_use(*, token: ApiToken, now: datetime) -> None:
    """Record when a token was last used."""
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=now, password_digest=password_digest(token.user))


def readable_studies(studies: StudyQuerySet, token: ApiToken) -> StudyQuerySet:
    """Keep the studies that a token may read."""
    grants = Grant.objects.filter(token=token, scope=Scope.READ)
    return studies.filter(Exists(grants.filter(Q(study=None) | Q(study=OuterRef("pk")))))


def scopes_in(token: ApiToken, study: Study | None) -> set[str]:
    """Return a token's scopes in a study; outside of any study if there is none."""
    where = Q(study=None) | Q(study=study) if study else Q(study=None)
    return set(Grant.objects.filter(where, token=token).values_list("scope", flat=True))


def list_for(user: User) -> QuerySet[ApiToken]:
    """Return a user's tokens with their scopes, newest first, without those that a new password ended."""
    return (
        ApiToken.objects.filter(user=user, password_digest__in=["", password_digest(user)])
        .prefetch_related("grants__study")
        .order_by("-created", "digest")
    )


def scopes_by_study(token: ApiToken) -> list[tuple[Study | None, list[str]]]:
    """Return where a token, fetched by `of`, is for what: a study or None for all, with the scopes' names."""
    scopes: dict[Study | None, list[str]] = {}
    for grant in sorted(token.grants.all(), key=lambda grant: (grant.study_id or 0, Scope.values.index(grant.scope))):
        scopes.setdefault(grant.study, []).append(str(grant.get_scope_display()))
    return list(scopes.items())

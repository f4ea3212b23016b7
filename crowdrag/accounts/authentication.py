"""Authentication: email and password on pages, a token in the API.

Passwords are checked by Django, with limits on failures (`login_limits`). Users signed in on pages are also
authenticated in the API, for the page on which endpoints can be tried.
"""

import copy
from datetime import timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone
from knox.auth import TokenAuthentication
from rest_framework import exceptions
from rest_framework.authentication import SessionAuthentication, get_authorization_header
from rest_framework.request import Request

from crowdrag.studies.models import User

from . import login_limits, tokens
from .models import ApiToken


class GuardedBackend(ModelBackend):
    """Django's users and passwords; both the sign-in page and Django's admin use this backend."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Any:
        """Return the user, or None; record failures, and refuse after too many.

        After a refusal, `request.sign_in_wait` has the seconds to wait.
        """
        account = username if username is not None else kwargs.get(User.USERNAME_FIELD)
        if request is None or not isinstance(account, str):
            return super().authenticate(request, username, password, **kwargs)

        def check() -> Any:
            return super(GuardedBackend, self).authenticate(request, username, password, **kwargs)

        try:
            user = login_limits.guard(account=account, address=login_limits.client_origin(request), check=check)
        except login_limits.TooManyFailuresError as error:
            request.sign_in_wait = error.seconds  # type: ignore[attr-defined]
            raise PermissionDenied(str(error)) from error
        if user is not None and SESSION_KEY in request.session:
            # Django keeps the key when the same user signs in again: whoever knows it would stay signed in too.
            request.session.cycle_key()
        return user


# The precision of the time of a token's last use, so that not every request writes it.
USE_NOTED_EVERY = timedelta(minutes=1)


class PageSessionAuthentication(SessionAuthentication):
    """Authenticate users signed in on pages. The CSRF token is in the header `X-CSRFToken`, never in the body."""

    def enforce_csrf(self, request: Request) -> None:
        """Check the CSRF token without reading the body, whose size has not been checked yet."""
        unread = copy.copy(request._request)
        if unread.method == "POST":
            unread.method = "PUT"  # for a POST the body would be searched
        super().enforce_csrf(unread)  # type: ignore[arg-type]


class BearerTokenAuthentication(TokenAuthentication):  # type: ignore[misc] # knox comes without types
    """Authenticate by `Authorization: Bearer TOKEN`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the token's user and the token; None if there is no token.

        Raises
        ------
        AuthenticationFailed
            for an invalid or expired token; also for a scheme other than `Bearer`.
        """
        header = get_authorization_header(request).split()
        if header and header[0].lower() != b"bearer":
            raise exceptions.AuthenticationFailed("Only tokens are known here: Authorization: Bearer TOKEN.")
        try:
            outcome: tuple[User, ApiToken] | None = super().authenticate(request)
        except exceptions.AuthenticationFailed:
            login_limits.note_token_failure(address=login_limits.client_origin(request._request))
            raise
        return outcome

    def authenticate_credentials(self, token: bytes) -> tuple[User, ApiToken]:
        """Return the token's user and the token."""
        # Anything else cannot be a token, and the database could not even be queried for some of it.
        if not token.decode("latin-1").isascii() or not token.replace(b"_", b"").isalnum():
            raise exceptions.AuthenticationFailed("Invalid token.")
        user, api_token = super().authenticate_credentials(token)
        if tokens.predates_password(api_token):
            raise exceptions.AuthenticationFailed("Invalid token.")
        now = timezone.now()
        if api_token.last_used_at is None or now - api_token.last_used_at >= USE_NOTED_EVERY:
            tokens.note_use(token=api_token, now=now)
        return user, api_token

    def _cleanup_token(self, auth_token: Any) -> bool:
        """Return whether a token has expired. It is kept, so that its owner sees that it has expired."""
        return bool(auth_token.expiry <= timezone.now())

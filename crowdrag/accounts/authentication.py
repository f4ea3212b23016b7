"""Authentication: email and password on pages, a token in the API.

Passwords are checked as Django does it, but not as often as somebody likes (`login_limits`). Whoever is signed in on
pages is known to the API too, for the page on which endpoints are tried.
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
    """Django's users and passwords; the pages of sign-in and Django's admin both come through here."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Any:
        """Return the user, or None; note failures, and refuse who failed too often.

        Whoever is refused finds the seconds to wait in `request.sign_in_wait`.
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
            # Django keeps the key where the same user signs in again: whoever knows it would stay in with them.
            request.session.cycle_key()
        return user


# When a token was last used is known as well as people want to know it; not every request writes it.
USE_NOTED_EVERY = timedelta(minutes=1)


class PageSessionAuthentication(SessionAuthentication):
    """Know who is signed in on pages. The form's token comes in the header `X-CSRFToken`, never in the body."""

    def enforce_csrf(self, request: Request) -> None:
        """Look for the token without reading the body: whether it may be sent is not decided yet."""
        unread = copy.copy(request._request)
        if unread.method == "POST":
            unread.method = "PUT"  # of a POST the body would be searched
        super().enforce_csrf(unread)  # type: ignore[arg-type]


class BearerTokenAuthentication(TokenAuthentication):  # type: ignore[misc] # knox comes without types
    """Know people by `Authorization: Bearer TOKEN`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return whose token came with the request; None where none came.

        Raises
        ------
        AuthenticationFailed
            for a token that is not, or no longer, one; also for a header of another kind than `Bearer`.
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
        """Return whose token it is."""
        # What is no text of ours can be no token, and the database could not even be asked for some of it.
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
        """Say whether a token has expired. It stays where its owner sees that it has."""
        return bool(auth_token.expiry <= timezone.now())

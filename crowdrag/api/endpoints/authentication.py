"""Who asks: by token. Whoever is signed in on pages is known too, for the page on which endpoints are tried."""

import copy
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from knox.auth import TokenAuthentication
from rest_framework import exceptions
from rest_framework.authentication import SessionAuthentication, get_authorization_header
from rest_framework.request import Request

from crowdrag.audit.domain import signing_in
from crowdrag.studies.models import User

from ..domain import tokens
from ..models import ApiToken

# When a token was last used is known as well as people want to know it; not every request writes it.
NOTED_EVERY = timedelta(minutes=1)


class BySession(SessionAuthentication):
    """Know who is signed in on pages. The form's token comes in the header `X-CSRFToken`, never in the body."""

    def enforce_csrf(self, request: Request) -> None:
        """Look for the token without reading the body: whether it may be sent is not decided yet."""
        unread = copy.copy(request._request)
        if unread.method == "POST":
            unread.method = "PUT"  # of a POST the body would be searched
        super().enforce_csrf(unread)  # type: ignore[arg-type]


class ByToken(TokenAuthentication):  # type: ignore[misc] # knox comes without types
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
            raise exceptions.AuthenticationFailed(_("Only tokens are known here: Authorization: Bearer TOKEN."))
        try:
            found: tuple[User, ApiToken] | None = super().authenticate(request)
        except exceptions.AuthenticationFailed:
            signing_in.token_failed(address=signing_in.origin_of(request._request))
            raise
        return found

    def authenticate_credentials(self, token: bytes) -> tuple[User, ApiToken]:
        """Return whose token it is."""
        # What is no text of ours can be no token, and the database could not even be asked for some of it.
        if not token.decode("latin-1").isascii() or not token.replace(b"_", b"").isalnum():
            raise exceptions.AuthenticationFailed(_("Invalid token."))
        user, found = super().authenticate_credentials(token)
        if tokens.outlived_password(found):
            raise exceptions.AuthenticationFailed(_("Invalid token."))
        now = timezone.now()
        if found.last_used_at is None or now - found.last_used_at >= NOTED_EVERY:
            tokens.note_use(token=found, now=now)
        return user, found

    def _cleanup_token(self, auth_token: Any) -> bool:
        """Say whether a token has expired. It stays where its owner sees that it has."""
        return bool(auth_token.expiry <= timezone.now())

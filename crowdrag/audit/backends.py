"""How users sign in: with e-mail address and password, as Django does it, but not as often as somebody likes."""

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from crowdrag.studies.models import User

from .domain import signing_in


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
            user = signing_in.guarded(account=account, address=signing_in.origin_of(request), check=check)
        except signing_in.TooManyError as error:
            request.sign_in_wait = error.seconds  # type: ignore[attr-defined]
            raise PermissionDenied(str(error)) from error
        if user is not None and SESSION_KEY in request.session:
            # Django keeps the key where the same user signs in again: whoever knows it would stay in with them.
            request.session.cycle_key()
        return user

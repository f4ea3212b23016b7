"""Pages to sign in and out, change the password, and manage one's tokens.

The first are Django's own views, marked with who may open them.
"""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth import views as auth
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crowdrag.studies.access import public, signed_in
from crowdrag.studies.models import User

from . import tokens
from .forms import SignInForm, TokenForm


class SignInView(auth.LoginView):
    """Django's, which tells whoever failed too often when to come again."""

    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again; 429 where nothing was looked at."""
        answer = super().form_invalid(form)
        if seconds := getattr(self.request, "sign_in_wait", 0):
            answer.status_code = 429
            answer["Retry-After"] = str(seconds)
        return answer


login = public(SignInView.as_view())
logout = public(auth.LogoutView.as_view())
password_change = signed_in(auth.PasswordChangeView.as_view())
password_change_done = signed_in(auth.PasswordChangeDoneView.as_view())


@signed_in
@never_cache
def my_tokens(request: HttpRequest) -> HttpResponse:
    """List my tokens; make one and show it, this once."""
    user = request.user
    assert isinstance(user, User)
    form = TokenForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        token, text = tokens.issue(by=user, **form.order)
        return _show_tokens(request, user, TokenForm(user), made=token.name, text=text)
    return _show_tokens(request, user, form, status=422 if form.errors else 200)


@signed_in
@require_POST
def revoke_token(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Take one of my tokens out of use."""
    assert isinstance(request.user, User)
    if tokens.revoke(by=request.user, key=key):
        messages.success(request, _("The token is revoked."))
    else:
        messages.warning(request, _("You have no such token."))
    return redirect("api_tokens")


def _show_tokens(request: HttpRequest, user: User, form: TokenForm, status: int = 200, **made: str) -> HttpResponse:
    now = timezone.now()
    rows = [
        {"token": token, "where": tokens.scopes_by_study(token), "is_over": token.expiry <= now}
        for token in tokens.list_for(user)
    ]
    return render(request, "api/tokens.html", {"rows": rows, "form": form, **made}, status=status)

"""Pages to sign in and out, change the password, manage API tokens, and for operators to remove accounts.

The first are Django's own views, marked with their access rules.
"""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth import login as sign_in
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth import views as auth
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crowdrag.studies.access import OperatorsOnlyError, operator_page, public, signed_in
from crowdrag.studies.models import Invitation, User
from crowdrag.studies.study import invitations
from crowdrag.studies.study import services as study_services

from . import login_limits, services, tokens
from .forms import AccountForm, SignInForm, TokenForm


class SignInView(auth.LoginView):
    """Django's view, which also says how long to wait after too many failures."""

    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again; 429 if nothing was checked."""
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
@require_POST
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    """End all my other sessions, and revoke my API tokens."""
    user = request.user
    assert isinstance(user, User)
    update_session_auth_hash(request, services.sign_out_everywhere(user=user, by=user))
    messages.success(request, "All other browsers are signed out, and your API tokens are revoked.")
    return redirect("password_change")


@operator_page
@never_cache
def sign_out_user(request: HttpRequest, user_id: int) -> HttpResponse:
    """Sign a user out everywhere, after a confirmation."""
    operator = _superuser(request)
    account = get_object_or_404(User, pk=user_id, removed_at__isnull=True)
    if account == operator:
        return redirect("password_change")
    if request.method == "POST":
        services.sign_out_everywhere(user=account, by=operator)
        messages.success(request, f"{account} is signed out everywhere, and all API tokens are revoked.")
        return redirect("admin:studies_user_change", account.pk)
    return render(request, "accounts/sign_out.html", {"account": account})


@operator_page
@never_cache
def remove_user(request: HttpRequest, user_id: int) -> HttpResponse:
    """Remove an account, after a confirmation."""
    operator = _superuser(request)
    account = get_object_or_404(User, pk=user_id)
    if account.removed_at:
        messages.info(request, "This account is already removed.")
        return redirect("admin:studies_user_change", account.pk)
    context = {
        "account": account,
        "is_own": account == operator,
        "solely_owned": study_services.solely_owned(account),
        "memberships": account.memberships.select_related("study").order_by("study__title", "id"),
    }
    if request.method != "POST":
        return render(request, "accounts/remove.html", context)
    try:
        removed = services.remove_account(user=account, by=operator)
    except (services.OwnAccountError, study_services.OnlyOwnerError):
        return render(request, "accounts/remove.html", context, status=422)
    messages.success(request, f"The account is removed. The history calls it “{removed}”.")
    return redirect("admin:studies_user_changelist")


def _superuser(request: HttpRequest) -> User:
    """Return the operator, who must have every right."""
    if not isinstance(request.user, User) or not request.user.is_superuser:
        raise OperatorsOnlyError
    return request.user


@public
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation: with the account that is signed in, or with a new one."""
    try:
        opened = login_limits.guard(
            account=login_limits.INVITATION_ACCOUNT,
            address=login_limits.client_origin(request),
            check=lambda: invitations.find(token),
        )
    except login_limits.TooManyFailuresError as error:
        answer = _show_refusal(request, "Too many wrong links from your address. Try again later.", 429)
        answer["Retry-After"] = str(error.seconds)
        return answer
    if opened is None:
        return _show_refusal(request, "This is not a valid invitation. Check that you opened the whole link.", 404)
    try:
        return _answer_invitation(request, opened)
    except invitations.InvitationError as error:
        return _show_refusal(request, str(error), 410)


def _answer_invitation(request: HttpRequest, opened: Invitation) -> HttpResponse:
    user, now = request.user, timezone.now()
    if isinstance(user, User):
        if request.method == "POST":
            invitations.accept(invitation=opened, user=user, now=now)
            return redirect("study", slug=opened.study.slug)
        invitations.require_pending(opened, now)
        return _show_invitation(request, opened)
    invitations.require_pending(opened, now)
    form = AccountForm(request.POST or None, email=opened.email)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        created = invitations.accept_as_new(
            invitation=opened, email=chosen["email"], name=chosen["name"], password=chosen["password1"], now=now
        )
        sign_in(request, created)
        return redirect("study", slug=opened.study.slug)
    return _show_invitation(request, opened, form, status=422 if form.errors else 200)


def _show_invitation(
    request: HttpRequest, opened: Invitation, form: AccountForm | None = None, status: int = 200
) -> HttpResponse:
    return render(request, "registration/invitation.html", {"invitation": opened, "form": form}, status=status)


def _show_refusal(request: HttpRequest, message: str, status: int) -> HttpResponse:
    return render(request, "registration/invitation_refused.html", {"message": message}, status=status)


@signed_in
@never_cache
def my_tokens(request: HttpRequest) -> HttpResponse:
    """List my tokens; create one and show it once."""
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
    """Revoke one of my tokens."""
    assert isinstance(request.user, User)
    if tokens.revoke(by=request.user, key=key):
        messages.success(request, "The token is revoked.")
    else:
        messages.warning(request, "You have no such token.")
    return redirect("api_tokens")


def _show_tokens(request: HttpRequest, user: User, form: TokenForm, status: int = 200, **made: str) -> HttpResponse:
    now = timezone.now()
    rows = [
        {"token": token, "where": tokens.scopes_by_study(token), "is_over": token.expiry <= now}
        for token in tokens.list_for(user)
    ]
    return render(request, "api/tokens.html", {"rows": rows, "form": form, **made}, status=status)

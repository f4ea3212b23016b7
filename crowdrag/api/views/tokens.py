"""One's own tokens: what there are, a new one, and none of them any more."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crowdrag.studies.access import signed_in
from crowdrag.studies.models import User

from ..domain import tokens
from ..forms import TokenForm


@signed_in
@never_cache
def mine(request: HttpRequest) -> HttpResponse:
    """List my tokens; make one and show it, this once."""
    user = request.user
    assert isinstance(user, User)
    form = TokenForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        token, text = tokens.issue(by=user, **form.order)
        return _show(request, user, TokenForm(user), made=token.name, text=text)
    return _show(request, user, form, status=422 if form.errors else 200)


@signed_in
@require_POST
def revoke(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Take one of my tokens out of use."""
    assert isinstance(request.user, User)
    if tokens.revoke(by=request.user, key=key):
        messages.success(request, _("The token opens nothing any more."))
    else:
        messages.warning(request, _("There was no such token of yours."))
    return redirect("api_tokens")


def _show(request: HttpRequest, user: User, form: TokenForm, status: int = 200, **made: str) -> HttpResponse:
    now = timezone.now()
    rows = [{"token": token, "where": tokens.told(token), "is_over": token.expiry <= now} for token in tokens.of(user)]
    return render(request, "api/tokens.html", {"rows": rows, "form": form, **made}, status=status)

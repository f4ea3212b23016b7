"""Login, logout and password change: Django's own views, marked with who may open them."""

from typing import Any

from django.contrib.auth import views as auth
from django.http import HttpResponse

from ..access import public, signed_in
from ..forms import SignInForm


class SignIn(auth.LoginView):
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


login = public(SignIn.as_view())
logout = public(auth.LogoutView.as_view())
password_change = signed_in(auth.PasswordChangeView.as_view())
password_change_done = signed_in(auth.PasswordChangeDoneView.as_view())

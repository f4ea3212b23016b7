"""Login, logout and password change: Django's own views, marked with who may open them."""

from django.contrib.auth import views as auth

from ..access import public, signed_in

login = public(auth.LoginView.as_view(redirect_authenticated_user=True))
logout = public(auth.LogoutView.as_view())
password_change = signed_in(auth.PasswordChangeView.as_view())
password_change_done = signed_in(auth.PasswordChangeDoneView.as_view())

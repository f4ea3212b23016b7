"""Pages to sign in and out, change the password, and manage API tokens."""

from django.urls import path

from . import views

urlpatterns = [
    path("login/", views.login, name="login"),
    path("logout/", views.logout, name="logout"),
    path("password/", views.password_change, name="password_change"),
    path("password/done/", views.password_change_done, name="password_change_done"),
    path("invitations/<str:token>/", views.invitation, name="invitation"),
    path("account/tokens/", views.my_tokens, name="api_tokens"),
    path("account/tokens/<uuid:key>/revoke/", views.revoke_token, name="api_token_revoke"),
]

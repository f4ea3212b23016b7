"""Pages to sign in and out, change the password, manage API tokens, and for operators to remove accounts."""

from django.urls import path

from . import views

urlpatterns = [
    path("login/", views.login, name="login"),
    path("logout/", views.logout, name="logout"),
    path("password/", views.password_change, name="password_change"),
    path("password/done/", views.password_change_done, name="password_change_done"),
    path("account/sign-out/", views.sign_out_everywhere, name="sign_out_everywhere"),
    path("operations/accounts/<int:user_id>/sign-out/", views.sign_out_user, name="account_sign_out"),
    path("operations/accounts/<int:user_id>/remove/", views.remove_user, name="account_remove"),
    path("invitations/<str:token>/", views.invitation, name="invitation"),
    path("account/tokens/", views.my_tokens, name="api_tokens"),
    path("account/tokens/<uuid:key>/revoke/", views.revoke_token, name="api_token_revoke"),
]

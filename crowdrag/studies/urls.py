"""Pages of studies and people."""

from django.urls import path

from .views import account, face, health, home, members, studies

urlpatterns = [
    path("", studies.index, name="home"),
    path("healthz", health.healthz, name="healthz"),
    path("components/", face.components, name="components"),
    path("login/", account.login, name="login"),
    path("logout/", account.logout, name="logout"),
    path("password/", account.password_change, name="password_change"),
    path("password/done/", account.password_change_done, name="password_change_done"),
    path("studies/", studies.mine, name="studies"),
    path("studies/new/", studies.new, name="study_new"),
    path("studies/<slug:slug>/", home.home, name="study"),
    path("studies/<slug:slug>/members/", members.members, name="members"),
    path("studies/<slug:slug>/members/<int:user_id>/remove/", members.remove, name="member_remove"),
]

"""Pages of studies and people."""

from django.urls import path

from .views import (
    account,
    barring,
    consent,
    enquiries,
    face,
    home,
    joining,
    links,
    members,
    own,
    studies,
    withdrawing,
)

urlpatterns = [
    path("", studies.index, name="home"),
    path("components/", face.components, name="components"),
    path("login/", account.login, name="login"),
    path("logout/", account.logout, name="logout"),
    path("password/", account.password_change, name="password_change"),
    path("password/done/", account.password_change_done, name="password_change_done"),
    path("studies/", studies.mine, name="studies"),
    path("studies/new/", studies.new, name="study_new"),
    path("studies/<slug:slug>/", home.home, name="study"),
    path("studies/<slug:slug>/about/", studies.about, name="study_about"),
    path("studies/<slug:slug>/members/", members.members, name="members"),
    path("studies/<slug:slug>/members/<int:user_id>/remove/", members.remove, name="member_remove"),
    path("studies/<slug:slug>/participants/<int:participant>/bar/", barring.bar, name="participant_bar"),
    path("studies/<slug:slug>/people/", links.entry_links, name="entry_links"),
    path("studies/<slug:slug>/people/<int:link_id>/renew/", links.renew_link, name="entry_link_renew"),
    path("studies/<slug:slug>/people/<int:link_id>/close/", links.close_link, name="entry_link_close"),
    path("studies/<slug:slug>/enquiries/", enquiries.enquiries, name="enquiries"),
    path("studies/<slug:slug>/enquiries/<int:enquiry_id>/answer/", enquiries.answer, name="enquiry_answer"),
    path("join/<str:token>/", joining.join, name="join"),
    path("withdraw/", withdrawing.withdraw_by_key, name="withdraw"),
    path("work/", joining.begin, name="work_begin"),
    path("work/<slug:taking_part>/", own.work, name="work"),
    path("work/<slug:taking_part>/consent/", consent.consent, name="work_consent"),
    path("work/<slug:taking_part>/key/", own.key, name="work_key"),
    path("work/<slug:taking_part>/forget/", own.leave_browser, name="work_forget"),
    path("work/<slug:taking_part>/ask/", enquiries.ask, name="work_ask"),
    path("work/<slug:taking_part>/withdraw/", withdrawing.withdraw, name="work_withdraw"),
]

"""Pages of studies and participants, and the endpoints of studies and members."""

from django.urls import path

from .entry import views as entry
from .messages import views as messages
from .notes import api as notes_api
from .notes import views as notes
from .participants import views as participants
from .saved_replies import views as saved_replies
from .study import api
from .study import views as study

urlpatterns = [
    path("", study.home, name="home"),
    path("studies/", study.my_studies, name="studies"),
    path("studies/new/", study.new_study, name="study_new"),
    path("studies/<slug:slug>/", study.study_home, name="study"),
    path("studies/<slug:slug>/inbox/", study.inbox_page, name="inbox"),
    path("studies/<slug:slug>/about/", study.about_study, name="study_about"),
    path("studies/<slug:slug>/manage/", study.manage_study, name="study_manage"),
    path("studies/<slug:slug>/archive/", study.archive_study, name="study_archive"),
    path("studies/<slug:slug>/restore/", study.restore_study, name="study_restore"),
    path("studies/<slug:slug>/delete/", study.delete_study, name="study_delete"),
    path("studies/<slug:slug>/members/", study.members, name="members"),
    path("studies/<slug:slug>/members/<int:user_id>/remove/", study.remove_member, name="member_remove"),
    path("studies/<slug:slug>/members/invite/", study.invite_member, name="member_invite"),
    path(
        "studies/<slug:slug>/members/invitations/<int:invitation>/revoke/",
        study.revoke_invitation,
        name="invitation_revoke",
    ),
    path(
        "studies/<slug:slug>/participants/<int:participant>/block/",
        participants.block_participant,
        name="participant_block",
    ),
    path("studies/<slug:slug>/people/", entry.entry_links, name="entry_links"),
    path("studies/<slug:slug>/people/<int:link_id>/renew/", entry.renew_link, name="entry_link_renew"),
    path("studies/<slug:slug>/people/<int:link_id>/close/", entry.close_link, name="entry_link_close"),
    path("studies/<slug:slug>/messages/", messages.list_messages, name="participant_messages"),
    path(
        "studies/<slug:slug>/messages/<int:message_id>/answer/",
        messages.answer_message,
        name="participant_message_answer",
    ),
    path("studies/<slug:slug>/participants/<int:participant>/notes/", notes.add_note, name="note_add"),
    path("studies/<slug:slug>/notes/<int:note_id>/remove/", notes.remove_note, name="note_remove"),
    path("studies/<slug:slug>/replies/", saved_replies.saved_replies, name="saved_replies"),
    path("studies/<slug:slug>/replies/new/", saved_replies.edit_saved_reply, name="saved_reply_new"),
    path("studies/<slug:slug>/replies/<int:reply_id>/", saved_replies.edit_saved_reply, name="saved_reply"),
    path(
        "studies/<slug:slug>/replies/<int:reply_id>/delete/",
        saved_replies.delete_saved_reply,
        name="saved_reply_delete",
    ),
    path("join/<str:token>/", entry.join, name="join"),
    path("withdraw/", participants.withdraw_by_key, name="withdraw"),
    path("work/", entry.enter_key, name="participant_return"),
    path("work/<slug:taking_part>/", participants.dashboard, name="participant_dashboard"),
    path("work/<slug:taking_part>/consent/", participants.consent_page, name="participant_consent"),
    path("work/<slug:taking_part>/key/", participants.renew_personal_link, name="personal_link"),
    path("work/<slug:taking_part>/forget/", participants.forget_browser, name="participant_sign_out"),
    path("work/<slug:taking_part>/ask/", messages.ask_researchers, name="participant_message_new"),
    path("work/<slug:taking_part>/withdraw/", participants.withdraw, name="participant_withdraw"),
    path("api/v1/studies/", api.StudyList.as_view(), name="api_studies"),
    path("api/v1/studies/<slug:study>/", api.StudyDetail.as_view(), name="api_study"),
    path("api/v1/studies/<slug:study>/notes/", notes_api.NoteList.as_view(), name="api_notes"),
    path("api/v1/studies/<slug:study>/notes/<int:note>/", notes_api.NoteDetail.as_view(), name="api_note"),
    path("api/v1/studies/<slug:study>/archive/", api.Archived.as_view(), name="api_study_archive"),
    path("api/v1/studies/<slug:study>/restore/", api.Restored.as_view(), name="api_study_restore"),
    path("api/v1/studies/<slug:study>/members/", api.MemberList.as_view(), name="api_members"),
    path("api/v1/studies/<slug:study>/members/<int:user>/", api.MemberDetail.as_view(), name="api_member"),
]

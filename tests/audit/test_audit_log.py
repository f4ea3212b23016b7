"""Who looked at what: noted once, and changed by nobody."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowdrag.audit import queries, services
from crowdrag.audit.models import AccessLogEntry
from crowdrag.studies.enums import AuditedContent, ParticipantKind
from crowdrag.studies.participants import withdrawal
from tests.factories import MembershipFactory, ParticipantFactory, ResponseFactory, StudyFactory, UserFactory
from tests.studies.test_access import STUDY_ROUTES

pytestmark = pytest.mark.django_db

# Pages of a study that show nothing of people who take part: what the study is, asks and plans; figures over many;
# texts of models; lists of runs. Whoever adds a page decides here, or marks it with `access.audited`.
NAMES = """
    inbox import_columns import_paste import_delete copy_sample
    study_manage study_clone study_archive study_restore study_delete
    note_add note_remove saved_replies saved_reply saved_reply_new saved_reply_delete
    review_assign review_undo screening_assign screening_undo
    study study_about members member_remove participant_block entry_link_close
    member_invite invitation_revoke payment_list_take_back payment_list_cancel
    webhooks webhook webhook_secret webhook_test webhook_switch webhook_remove webhook_redeliver
    runs run run_progress run_cancel run_resume study_models
    recruitments recruitment_new recruitment_resend recruitment_refresh recruitment_places recruitment_transition
    platform_action_retry platform_action_drop import import_form model_writers model_campaign_new model_campaign
    topics
    writing_top_up writing_plan writing_plan_state writing_plan_preview writing_plan_instructions
    writing_plan_consent writing_plan_questions writing_plan_style_new writing_plan_style
    review_next review_lock review_skip screening_next screening_lock screening_skip
    campaigns campaign_new campaign_edit campaign_questions campaign_instructions campaign_consent campaign_expert_items
    campaign_preview campaign_launch campaign_duplicate campaign_delete campaign campaign_live
    campaign_setup campaign_judges campaign_archive campaign_restore
    campaign_pause campaign_close campaign_reopen campaign_extend campaign_checks campaign_checks_add
    model_judges model_judges_new model_judges_measure model_judges_run
    results analysis_start grades leaderboard head_to_head pairs report report_build report_file analyses compare_runs
    order_effects model_judge_results writing_results reference_metrics bertscore_start result_chart
    planner planner_progress planner_chart planner_use
    experiments experiments_compare experiment_new experiment_estimate experiment_result exports export_start
    indexes index_delete
    releases release_new release_progress release_change release_build release_stop release_publish release_embargo
    release_withdraw release_discard release_link release_revoke personal_data_decide
    model_judges_train placement_new campaign_goal campaign_goal_chart assisted_estimates
"""
NOTHING_OF_PEOPLE = set(NAMES.split())


def test_a_response_that_is_read_is_noted(client: Client) -> None:
    response = ResponseFactory()
    member = MembershipFactory(study=response.study)
    address = reverse("response", args=[response.study.slug, response.external_id])
    assert client.get(address).status_code == 302  # nobody is signed in
    client.force_login(UserFactory())
    assert client.get(address).status_code == 404  # a stranger
    assert not AccessLogEntry.objects.exists()
    client.force_login(member.user)
    for _twice in range(2):  # once more is the same look
        assert client.get(address).status_code == 200
    # What a model wrote is nobody's to protect.
    by_model = ResponseFactory(topic=response.topic, participant__kind=ParticipantKind.MODEL)
    assert client.get(reverse("response", args=[response.study.slug, by_model.external_id])).status_code == 200
    look = AccessLogEntry.objects.get()
    assert (look.by, look.study, look.content, look.page) == (
        member.user,
        response.study,
        AuditedContent.RESPONSE,
        "response",
    )
    assert (look.participant, look.work_key) == (response.participant, response.pk)


def test_a_look_after_a_while_is_another() -> None:
    now, user, study = timezone.now(), UserFactory(), StudyFactory()
    given = {"by": user, "study": study, "content": AuditedContent.PEOPLE, "page": "progress"}
    times = [
        now,
        now + services.REPEAT_WITHIN - timedelta(seconds=1),
        now + services.REPEAT_WITHIN + timedelta(seconds=1),
    ]
    assert [services.record_access(**given, now=at) for at in times] == [True, False, True]
    assert services.record_access(**given | {"page": "screening"}, now=now)  # another list is another look


def test_rows_in_the_administration_are_noted(client: Client) -> None:
    person = ParticipantFactory()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    client.get(f"/admin/studies/participant/{person.pk}/change/")
    client.get("/admin/studies/study/")
    look = AccessLogEntry.objects.get()
    assert (look.content, look.page, look.work_key) == (
        AuditedContent.ADMIN,
        "admin:studies_participant_change",
        person.pk,
    )


def looked(**given: Any) -> AccessLogEntry:
    services.record_access(
        **{"by": UserFactory(), "study": StudyFactory(), "content": AuditedContent.PEOPLE, "page": "progress"} | given
    )
    return AccessLogEntry.objects.latest("id")


def test_nobody_changes_the_trail() -> None:
    look = looked()
    changes = {"at": timezone.now(), "by_id": UserFactory().pk, "study_slug": "other", "content": AuditedContent.LOG,
               "page": "other", "participant_id": 1, "work_key": 1}  # fmt: skip
    for field, value in changes.items():
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            AccessLogEntry.objects.filter(pk=look.pk).update(**{field: value})


def test_nobody_deletes_what_is_not_a_year_old() -> None:
    look = looked()
    with pytest.raises(DatabaseError, match="Cannot delete"), transaction.atomic():
        look.delete()
    with pytest.raises(DatabaseError, match="Cannot delete"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_accesslogentry")
    old = looked(now=timezone.now() - timedelta(days=400))
    assert queries.expired_accesses(now=timezone.now(), keep=timedelta(days=1)).delete()[0] == 1
    assert not AccessLogEntry.objects.filter(pk=old.pk).exists()


def test_who_looked_stays_named() -> None:
    look = looked()
    with pytest.raises(ProtectedError):
        look.by.delete()


def test_the_trail_outlives_study_and_participant() -> None:
    person = ParticipantFactory()
    look = looked(study=person.study, participant=person.pk)
    person.study.delete()
    kept = AccessLogEntry.objects.select_related("study").get(pk=look.pk)
    assert kept.study is None
    assert kept.study_slug == look.study_slug


def test_an_erasure_finds_nothing_of_a_person_in_the_trail(client: Client) -> None:
    response = ResponseFactory(participant__external_id="pseudonym-4711", text="Words like no others [0].")
    client.force_login(MembershipFactory(study=response.study).user)
    client.get(reverse("response", args=[response.study.slug, response.external_id]))
    withdrawal.erase(participant=response.participant, now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("SELECT look::text FROM audit_accesslogentry look")
        rows = [row[0] for row in cursor.fetchall()]
    assert len(rows) == 1
    assert not any(word in rows[0] for word in ("pseudonym-4711", "Words like", response.external_id))


def test_every_page_of_a_study_says_whether_it_shows_people() -> None:
    pages = {str(pattern.name): hasattr(pattern.callback, "shows") for _route, pattern in STUDY_ROUTES}
    assert {name for name, shows in pages.items() if not shows} == NOTHING_OF_PEOPLE

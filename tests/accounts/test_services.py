"""Signing out everywhere, and removing accounts: what ends, what is erased, what stays, and what is refused."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from crowdrag.accounts import services, tokens
from crowdrag.accounts.models import ApiToken
from crowdrag.audit import services as audit
from crowdrag.audit.models import AccessLogEntry
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Invitation, Membership, User
from crowdrag.studies.study import invitations
from crowdrag.studies.study import services as study_services
from tests.concurrency import together
from tests.factories import PASSWORD, MembershipFactory, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def operator() -> User:
    return UserFactory(is_staff=True, is_superuser=True)


def token_of(user: User) -> str:
    return tokens.issue(by=user, name="script", scopes=[], studies=None, lasts=timedelta(days=1))[1]


def api_status(token: str) -> int:
    return Client().get("/api/v1/studies/", headers={"authorization": f"Bearer {token}"}).status_code


def test_all_sessions_and_tokens_of_one_user_end(operator: User) -> None:
    user, other = UserFactory(), UserFactory()
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(user)
    others = Client()
    others.force_login(other)
    mine, theirs = token_of(user), token_of(other)
    assert [browser.get("/studies/").status_code for browser in [*browsers, others]] == [200, 200, 200]
    services.sign_out_everywhere(user=user, by=operator)
    assert [browser.get("/studies/").status_code for browser in [*browsers, others]] == [302, 302, 200]
    assert [api_status(mine), api_status(theirs)] == [401, 200]
    # The password is the same.
    assert browsers[0].post("/login/", {"username": user.email, "password": PASSWORD}).status_code == 302
    assert browsers[0].get("/studies/").status_code == 200
    # And once more.
    services.sign_out_everywhere(user=user, by=operator)
    assert browsers[0].get("/studies/").status_code == 302


def test_a_token_that_is_made_from_an_earlier_state_of_the_user_does_not_work(operator: User) -> None:
    stale = UserFactory()
    services.sign_out_everywhere(user=stale, by=operator)
    assert api_status(token_of(stale)) == 401


def test_signing_out_is_recorded_in_the_history_of_the_account(operator: User) -> None:
    user = UserFactory()
    services.sign_out_everywhere(user=user, by=operator)
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id, entry.action_flag) == (operator, str(user.pk), CHANGE)


def test_a_removed_account_identifies_nobody_and_nobody_can_use_it(operator: User) -> None:
    user = UserFactory(email="grace.hopper@example.org", name="Grace Hopper")
    browser = Client()
    browser.force_login(user)
    token = token_of(user)
    member = MembershipFactory(user=user, role=Role.EDITOR)
    LogEntry.objects.log_actions(operator.pk, [user], CHANGE, "[]", single_object=True)
    removed = services.remove_account(user=user, by=operator)
    removed.refresh_from_db()
    assert (removed.is_active, removed.has_usable_password()) == (False, False)
    assert not removed.memberships.exists()
    assert member.study.memberships.count() == 0
    assert not ApiToken.objects.exists()
    assert browser.get("/studies/").status_code == 302
    assert api_status(token) == 401
    assert not Client().login(username="grace.hopper@example.org", password=PASSWORD)
    assert not Client().login(username=removed.email, password=PASSWORD)
    with connection.cursor() as cursor:
        for table in ("studies_user", "studies_invitation", "django_admin_log", "accounts_apitoken"):
            cursor.execute(f"SELECT row::text FROM {table} row")
            rows = "".join(row[0] for row in cursor.fetchall())
            assert "hopper" not in rows.casefold(), table
    # The address is free for a new account.
    assert UserFactory(email="grace.hopper@example.org").pk != removed.pk


def test_what_a_removed_person_did_keeps_an_author(operator: User) -> None:
    study = StudyFactory()
    user = MembershipFactory(study=study, role=Role.OWNER).user
    MembershipFactory(study=study, role=Role.OWNER)
    added = MembershipFactory(study=study, added_by=user)
    audit.record_access(by=user, study=study, content=AuditedContent.PEOPLE, page="progress")
    services.remove_account(user=user, by=operator)
    added.refresh_from_db()
    assert added.added_by == AccessLogEntry.objects.get().by == user


def test_invitations_forget_the_address_and_let_nobody_in(operator: User) -> None:
    study, owner = StudyFactory(), MembershipFactory(role=Role.OWNER).user
    user = UserFactory(email="grace@example.org")
    links: list[str] = []

    def invite(email: str, by: User) -> Invitation:
        return invitations.invite(
            study=study, role=Role.VIEWER, lasts=timedelta(days=1), by=by, now=NOW, email=email,
            link_of=lambda token: links.append(token) or token,
        ).invitation  # fmt: skip

    accepted = invite("Grace@example.org", owner)
    invitations.accept(invitation=accepted, user=user, now=NOW)
    Membership.objects.all().delete()
    pending, by_user, other = invite("GRACE@example.org", owner), invite("", user), invite("ada@example.org", owner)
    services.remove_account(user=user, by=operator, now=NOW)
    rows = Invitation.objects.in_bulk()
    assert [rows[each.pk].email for each in (accepted, pending, by_user)] == ["", "", ""]
    assert rows[accepted.pk].accepted_by == user
    assert [bool(rows[each.pk].revoked_at) for each in (pending, by_user, other)] == [True, True, False]
    assert rows[other.pk].email == "ada@example.org"
    # Without an address, a link would be for anybody.
    stranger = UserFactory()
    for token in links[1:3]:
        found = invitations.find(token)
        assert found
        with pytest.raises(invitations.NotPendingError):
            invitations.accept(invitation=found, user=stranger, now=NOW)


def test_removing_twice_changes_nothing(operator: User) -> None:
    user = UserFactory()
    first = services.remove_account(user=user, by=operator)
    second = services.remove_account(user=user, by=operator)
    assert (first.email, first.removed_at) == (second.email, second.removed_at)
    assert LogEntry.objects.count() == 1


def test_the_only_active_owner_of_a_study_stays(operator: User) -> None:
    user = UserFactory()
    alone = MembershipFactory(user=user, role=Role.OWNER).study
    paused = MembershipFactory(user=user, role=Role.OWNER).study
    MembershipFactory(study=paused, role=Role.OWNER, user__is_active=False)
    shared = MembershipFactory(user=user, role=Role.OWNER).study
    MembershipFactory(study=shared, role=Role.OWNER)
    MembershipFactory(user=user, role=Role.EDITOR)
    # Nobody can open it to make somebody else an owner, and it is soon gone.
    MembershipFactory(user=user, role=Role.OWNER, study__deletion_requested_at=NOW)
    token = token_of(user)
    with pytest.raises(study_services.OnlyOwnerError) as refused:
        services.remove_account(user=user, by=operator)
    assert {study.pk for study in refused.value.studies} == {alone.pk, paused.pk}
    user.refresh_from_db()
    assert user.removed_at is None
    assert user.memberships.count() == 5
    assert api_status(token) == 200
    for study in refused.value.studies:
        MembershipFactory(study=study, role=Role.OWNER)
    assert services.remove_account(user=user, by=operator).removed_at


def test_nobody_removes_their_own_account_and_only_operators_remove_others(operator: User) -> None:
    with pytest.raises(services.OwnAccountError):
        services.remove_account(user=operator, by=operator)
    for by in (UserFactory(), UserFactory(is_staff=True), UserFactory(is_superuser=True, is_active=False)):
        with pytest.raises(PermissionDenied):
            services.remove_account(user=UserFactory(), by=by)
    assert not User.objects.filter(removed_at__isnull=False).exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_operators_who_remove_each_other_one_stays() -> None:
    one, two = UserFactory(is_staff=True, is_superuser=True), UserFactory(is_staff=True, is_superuser=True)

    def remove(user: User, by: User) -> bool:
        try:
            services.remove_account(user=user, by=by)
        except PermissionDenied:
            return False
        return True

    assert sorted(together([lambda: remove(one, two), lambda: remove(two, one)])) == [False, True]
    assert User.objects.filter(is_superuser=True, is_active=True).count() == 1


def test_a_removed_account_cannot_be_given_rights(operator: User) -> None:
    removed = services.remove_account(user=UserFactory(), by=operator)
    for right in ("is_active", "is_staff", "is_superuser"):
        with pytest.raises(IntegrityError), transaction.atomic():
            User.objects.filter(pk=removed.pk).update(**{right: True})


def test_a_session_from_before_the_column_is_still_valid() -> None:
    """The hash of users who were never signed out is Django's own."""
    user = UserFactory()
    assert user.get_session_auth_hash() == super(User, user)._get_session_auth_hash()
    user.signed_out_at = NOW
    changed = user.get_session_auth_hash()
    user.save()
    assert User.objects.get(pk=user.pk).get_session_auth_hash() == changed


def test_the_content_type_of_the_history_is_that_of_users(operator: User) -> None:
    services.sign_out_everywhere(user=UserFactory(), by=operator)
    assert LogEntry.objects.get().content_type == ContentType.objects.get_for_model(User)

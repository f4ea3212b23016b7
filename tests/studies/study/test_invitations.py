"""Invitations: who may accept them, once and in time, and what becomes of them when the inviter leaves."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Invitation, Membership, Study, User
from crowdrag.studies.study import invitations, services
from tests.factories import NOW, PASSWORD, MembershipFactory, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db
WEEK = timedelta(days=7)


@pytest.fixture
def study() -> Study:
    study: Study = StudyFactory(slug="mine", title="Tides")
    MembershipFactory(study=study, role=Role.OWNER)
    return study


def owner(study: Study) -> User:
    return study.memberships.filter(role=Role.OWNER).earliest("pk").user


def invited(study: Study, **fields: Any) -> invitations.NewInvitation:
    given = {"role": Role.EDITOR, "lasts": WEEK, "link_of": "/invitations/{}/".format, "by": owner(study), "now": NOW}
    return invitations.invite(study=study, **given | fields)


def token(created: invitations.NewInvitation) -> str:
    return created.link.split("/")[2]


def test_a_link_makes_one_person_a_member_once(study: Study) -> None:
    created, user = invited(study), UserFactory()
    opened = invitations.find(token(created))
    assert opened == created.invitation
    assert token(created).encode() not in bytes(opened.token_hash)
    for _again in range(2):
        assert invitations.accept(invitation=opened, user=user, now=NOW).role == Role.EDITOR
    with pytest.raises(invitations.NotPendingError):
        invitations.accept(invitation=opened, user=UserFactory(), now=NOW)
    assert Membership.objects.get(user=user).added_by == owner(study)
    assert not mail.outbox


def test_a_link_that_expired_or_was_revoked_lets_nobody_in(study: Study) -> None:
    expired, revoked = invited(study).invitation, invited(study).invitation
    with pytest.raises(invitations.NotPendingError):
        invitations.accept(invitation=expired, user=UserFactory(), now=NOW + WEEK)
    assert invitations.revoke(study=study, invitation=revoked.pk, by=owner(study), now=NOW)
    assert not invitations.revoke(study=study, invitation=revoked.pk, by=owner(study), now=NOW)
    assert not invitations.revoke(study=StudyFactory(), invitation=expired.pk, by=owner(study), now=NOW)
    with pytest.raises(invitations.NotPendingError):
        invitations.accept(invitation=revoked, user=UserFactory(), now=NOW)


def test_an_email_invitation_is_for_its_address_and_replaces_the_earlier_one(study: Study) -> None:
    first, second = invited(study, email="ada@example.org"), invited(study, email="Ada@Example.org")
    assert [message.to for message in mail.outbox] == [["ada@example.org"], ["Ada@Example.org"]]
    assert second.link in mail.outbox[1].body
    with pytest.raises(invitations.WrongAccountError):
        invitations.accept(invitation=second.invitation, user=UserFactory(), now=NOW)
    ada = UserFactory(email="ada@example.org")
    with pytest.raises(invitations.NotPendingError):
        invitations.accept(invitation=first.invitation, user=ada, now=NOW)
    invitations.accept(invitation=second.invitation, user=ada, now=NOW)
    with pytest.raises(invitations.AlreadyMemberError):
        invited(study, email="ada@example.org")


def test_a_higher_role_is_kept(study: Study) -> None:
    assert invitations.accept(invitation=invited(study).invitation, user=owner(study), now=NOW).role == Role.OWNER


@pytest.mark.parametrize("is_removed", [True, False])
def test_who_may_not_invite_any_more_leaves_no_way_in(study: Study, is_removed: bool) -> None:
    leaver = MembershipFactory(study=study, role=Role.OWNER).user
    created = invited(study, by=leaver, now=timezone.now(), role=Role.OWNER)
    if is_removed:
        services.remove_member(study=study, user=leaver)
    else:
        services.set_role(study=study, user=leaver, role=Role.VIEWER, by=owner(study))
    with pytest.raises(invitations.NotPendingError):
        invitations.accept(invitation=created.invitation, user=leaver, now=timezone.now())


def test_there_are_only_so_many_invitations(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invitations, "MAX_PENDING", 2)
    monkeypatch.setattr(invitations, "MAX_PER_DAY", 3)
    made = [invited(study), invited(study)]
    with pytest.raises(invitations.TooManyInvitationsError):
        invited(study)
    for each in made:
        invitations.revoke(study=study, invitation=each.invitation.pk, by=owner(study), now=NOW)
    invited(study)
    with pytest.raises(invitations.TooManyInvitationsError):
        invited(study)
    assert invited(study, now=NOW + timedelta(days=2))


def test_an_invitation_stays_when_its_email_cannot_be_sent(study: Study, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = (
        "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1", 1,
    )  # fmt: skip
    created = invited(study, email="ada@example.org")
    assert created.problem
    assert Invitation.objects.pending(NOW).get() == created.invitation


def test_an_invitation_is_accepted_by_somebody_or_revoked(study: Study) -> None:
    rows = Invitation.objects.filter(pk=invited(study).invitation.pk)
    for change in ({"accepted_at": NOW}, {"accepted_at": NOW, "accepted_by": owner(study), "revoked_at": NOW}):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**change)


def test_owners_invite_and_revoke_on_the_page_and_see_the_link_once(study: Study) -> None:
    browser, page = Client(), reverse("members", args=["mine"])
    browser.force_login(owner(study))
    invite = reverse("member_invite", args=["mine"])
    assert browser.post(invite, {"email": "nobody", "role": 20, "lasts": 7}).status_code == 422
    answer = browser.post(invite, {"email": "", "role": 20, "lasts": 7})
    created = answer.context["created"]
    assert created.link in answer.content.decode()
    assert created.link not in browser.get(page).content.decode()
    browser.post(reverse("invitation_revoke", args=["mine", created.invitation.pk]))
    assert Client().get(created.link).status_code == 410


def test_who_has_no_account_makes_one_by_the_rules_for_passwords(study: Study) -> None:
    created = invited(study, email="ada@example.org", now=timezone.now(), role=Role.REVIEWER)
    browser = Client()
    assert browser.get(created.link).status_code == 200
    given = {"email": "other@example.org", "name": "Ada", "password1": "12345678", "password2": "12345678"}
    assert browser.post(created.link, given).status_code == 422
    given |= {"password1": PASSWORD, "password2": PASSWORD}
    assert browser.post(created.link, given)["Location"] == reverse("study", args=["mine"])
    ada = User.objects.get(name="Ada")
    assert ada.email == "ada@example.org"
    assert not ada.is_staff
    assert ada.check_password(PASSWORD)
    assert browser.get(reverse("study", args=["mine"])).context["study_role"] == Role.REVIEWER
    assert Client().get(created.link).status_code == 410


def test_who_has_an_account_joins_signed_in(study: Study) -> None:
    created, browser, user = invited(study, now=timezone.now()), Client(), UserFactory()
    given = {"email": user.email.upper(), "name": "Ada", "password1": PASSWORD, "password2": PASSWORD}
    assert browser.post(created.link, given).status_code == 422
    browser.force_login(user)
    assert browser.get(created.link).status_code == 200
    assert browser.post(created.link)["Location"] == reverse("study", args=["mine"])
    assert Membership.objects.get(user=user).role == Role.EDITOR


def test_wrong_links_are_tried_only_so_often() -> None:
    browser = Client()
    answers = [browser.get(reverse("invitation", args=[f"guess-{n}"])).status_code for n in range(11)]
    assert answers == [404] * 10 + [429]

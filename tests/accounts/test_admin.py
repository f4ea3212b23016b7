"""Accounts on the operator's pages: what can be changed, by whom, and how an account ends."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from crowdrag.studies.enums import Role
from crowdrag.studies.models import User
from tests.factories import PASSWORD, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
NEW = "a-new-password-of-nobody-else"


@pytest.fixture
def operator() -> User:
    return UserFactory(is_staff=True, is_superuser=True)


@pytest.fixture
def browser(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


def page_of(user: User) -> str:
    return reverse("admin:studies_user_change", args=[user.pk])


def change(browser: Client, user: User, **fields: Any) -> Any:
    values = {"email": user.email, "name": user.name, "is_active": "on", **fields}
    return browser.post(page_of(user), {name: value for name, value in values.items() if value is not None})


def fields_of(response: Any) -> set[str]:
    return set(response.context["adminform"].form.fields)


def test_the_form_has_what_an_operator_decides_and_nothing_else(browser: Client) -> None:
    page = browser.get(page_of(UserFactory()))
    assert fields_of(page) == {"email", "name", "is_active", "is_operator"}
    assert "pbkdf2" not in page.content.decode()
    assert fields_of(browser.get(reverse("admin:studies_user_add"))) == {"email", "name", "password1", "password2"}


def test_an_account_is_made_with_a_password(browser: Client) -> None:
    fields = {"email": "new@example.org", "name": "New", "password1": NEW, "password2": NEW}
    assert browser.post(reverse("admin:studies_user_add"), fields).status_code == 302
    user = User.objects.get(email="new@example.org")
    assert user.check_password(NEW)
    assert not user.is_staff


def test_an_operator_is_made_and_unmade_by_one_box(browser: Client) -> None:
    user = UserFactory()
    assert change(browser, user, is_operator="on").status_code == 302
    user.refresh_from_db()
    assert (user.is_staff, user.is_superuser) == (True, True)
    change(browser, user)
    user.refresh_from_db()
    assert (user.is_staff, user.is_superuser) == (False, False)


def test_saving_another_field_does_not_change_rights(browser: Client) -> None:
    """Staff without all rights, whom an earlier release could make, do not become operators by the way."""
    staff = UserFactory(is_staff=True)
    change(browser, staff, name="Renamed", is_operator="on")
    staff.refresh_from_db()
    assert (staff.name, staff.is_staff, staff.is_superuser) == ("Renamed", True, False)


def test_operators_do_not_lock_themselves_out(browser: Client, operator: User) -> None:
    assert change(browser, operator, is_active=None, name="Me").status_code == 302
    operator.refresh_from_db()
    assert (operator.name, operator.is_active, operator.is_superuser) == ("Me", True, True)
    removal = browser.post(reverse("account_remove", args=[operator.pk]))
    assert removal.status_code == 422
    operator.refresh_from_db()
    assert operator.removed_at is None


def test_a_paused_account_has_no_session_left_when_it_is_active_again(browser: Client) -> None:
    user, theirs = UserFactory(), Client()
    theirs.force_login(user)
    change(browser, user, is_active=None)
    change(browser, user)
    user.refresh_from_db()
    assert user.is_active
    assert theirs.get("/studies/").status_code == 302


def test_a_new_password_is_set_for_somebody(browser: Client) -> None:
    user, theirs = UserFactory(), Client()
    theirs.force_login(user)
    address = reverse("admin:auth_user_password_change", args=[user.pk])
    page = browser.get(address)
    assert set(page.context["form"].fields) == {"password1", "password2"}
    wrong = browser.post(address, {"password1": NEW, "password2": "another-one-of-these"})
    assert wrong.status_code == 200
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
    assert browser.post(address, {"password1": NEW, "password2": NEW}).status_code == 302
    user.refresh_from_db()
    assert user.check_password(NEW)
    assert theirs.get("/studies/").status_code == 302
    assert LogEntry.objects.filter(object_id=str(user.pk)).exists()


def test_a_user_is_signed_out_after_a_confirmation(browser: Client) -> None:
    user, theirs = UserFactory(), Client()
    theirs.force_login(user)
    address = reverse("account_sign_out", args=[user.pk])
    assert address in browser.get(page_of(user)).content.decode()
    assert browser.get(address).status_code == 200
    assert theirs.get("/studies/").status_code == 200
    assert browser.post(address)["Location"] == page_of(user)
    assert theirs.get("/studies/").status_code == 302


def test_an_account_is_removed_after_a_confirmation(browser: Client) -> None:
    user = UserFactory(email="grace@example.org")
    address = reverse("account_remove", args=[user.pk])
    assert address in browser.get(page_of(user)).content.decode()
    # Where Django would delete it.
    assert browser.get(f"{page_of(user)[:-7]}delete/")["Location"] == address
    assert browser.get(address).status_code == 200
    assert User.objects.filter(email="grace@example.org").exists()
    assert browser.post(address).status_code == 302
    assert not User.objects.filter(email="grace@example.org").exists()
    page = browser.get(page_of(user))
    assert page.status_code == 200
    assert page.context["has_change_permission"] is False
    assert address not in page.content.decode()
    assert browser.get(address)["Location"] == page_of(user)
    assert browser.get(reverse("admin:auth_user_password_change", args=[user.pk])).status_code == 403
    assert change(browser, user).status_code == 403


def test_the_only_owner_is_named_with_the_pages_where_that_is_changed(browser: Client) -> None:
    owner = MembershipFactory(role=Role.OWNER)
    for answer in (browser.get, browser.post):
        page = answer(reverse("account_remove", args=[owner.user.pk]))
        assert reverse("members", args=[owner.study.slug]) in page.content.decode()
    assert page.status_code == 422
    owner.user.refresh_from_db()
    assert owner.user.removed_at is None


@pytest.mark.parametrize("name", ["account_sign_out", "account_remove"])
def test_only_operators_end_the_accounts_of_others(name: str) -> None:
    user = UserFactory()
    for other in (UserFactory(), UserFactory(is_staff=True)):
        client = Client()
        client.force_login(other)
        for answer in (client.get, client.post):
            assert answer(reverse(name, args=[user.pk])).status_code == 403
    user.refresh_from_db()
    assert (user.signed_out_at, user.removed_at) == (None, None)


@pytest.mark.parametrize("state", ["operator", "active", "paused", "removed"])
def test_accounts_are_listed_by_their_state(browser: Client, operator: User, state: str) -> None:
    paused, gone = UserFactory(is_active=False), UserFactory()
    browser.post(reverse("account_remove", args=[gone.pk]))
    shown = browser.get(reverse("admin:studies_user_changelist"), {"account": state}).context["cl"].queryset
    expected = {"operator": operator, "active": operator, "paused": paused, "removed": gone}[state]
    assert list(shown) == [expected]

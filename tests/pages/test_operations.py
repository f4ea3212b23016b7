"""The operator's dashboards in a browser: as accessible as any page, wide and narrow."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from crowdrag.operations.views import PAGES
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant
from tests.factories import MembershipFactory, UserFactory
from tests.operations.full_system import busy
from tests.pages.accessibility import look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def operator(sign_in: Any) -> Any:
    return sign_in(UserFactory(is_staff=True, is_superuser=True))


@pytest.mark.extended
def test_dashboards_are_accessible_and_fit_the_screen(page: Page, live_server: Any, operator: Any) -> None:
    busy(2)
    person = Participant.objects.select_related("study").earliest("id")
    erasing = reverse("operations_erase", query={"study": person.study.slug, "pseudonym": person.external_id})
    accounts = [
        reverse("account_sign_out", args=[UserFactory().pk]),
        reverse("account_remove", args=[UserFactory().pk]),
        reverse("account_remove", args=[MembershipFactory(role=Role.OWNER).user.pk]),
    ]
    found = []
    for path in [*map(reverse, PAGES), erasing, *accounts]:
        page.goto(live_server.url + path)
        found += look(page)
    assert "\n".join(found) == ""


@pytest.mark.extended
def test_dashboards_are_gone_through_by_keyboard_and_filters_work(page: Page, live_server: Any, operator: Any) -> None:
    busy(2)
    page.goto(live_server.url + reverse("operations"))
    page.locator(f"nav a[href='{reverse('operations_access_log')}']").first.press("Enter")
    page.wait_for_url("**/operations/access-log/")
    assert page.locator("tbody tr").count() == 2
    page.locator("[name=user]").fill("nobody@example.org")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(0)


@pytest.mark.extended
def test_an_account_is_ended_by_keyboard(page: Page, live_server: Any, operator: Any) -> None:
    user = UserFactory()
    page.goto(live_server.url + reverse("admin:studies_user_change", args=[user.pk]))
    page.get_by_role("link", name="Sign out everywhere").press("Enter")
    page.get_by_role("button", name="Sign out everywhere").press("Enter")
    page.wait_for_url("**/change/")
    page.get_by_role("link", name="Remove account").press("Enter")
    page.get_by_role("button", name="Remove account").press("Enter")
    page.wait_for_url("**/admin/studies/user/")
    user.refresh_from_db()
    assert user.signed_out_at
    assert user.removed_at
    page.goto(live_server.url + reverse("admin:studies_user_change", args=[user.pk]))
    expect(page.get_by_role("link", name="Remove account")).to_have_count(0)


@pytest.mark.extended
def test_i_sign_out_everywhere_else_after_a_question(page: Page, live_server: Any, operator: Any) -> None:
    page.goto(live_server.url + reverse("password_change"))
    page.get_by_role("button", name="Sign out everywhere else").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Sign out").press("Enter")
    expect(page.locator("#messages .note")).to_be_visible()
    operator.refresh_from_db()
    assert operator.signed_out_at
    # This browser stays signed in.
    expect(page).to_have_url(live_server.url + reverse("password_change"))

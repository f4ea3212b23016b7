"""The operator's dashboards in a browser: as accessible as any page, wide and narrow."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from crowdrag.operations.views import PAGES
from crowdrag.studies.models import Participant
from tests.factories import UserFactory
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
    found = []
    for path in [*map(reverse, PAGES), erasing]:
        page.goto(live_server.url + path)
        found += look(page)
    assert "\n".join(found) == ""


def test_dashboards_are_gone_through_by_keyboard_and_filters_work(page: Page, live_server: Any, operator: Any) -> None:
    busy(2)
    page.goto(live_server.url + reverse("operations"))
    page.locator(f"nav a[href='{reverse('operations_access_log')}']").first.press("Enter")
    page.wait_for_url("**/operations/access-log/")
    assert page.locator("tbody tr").count() == 2
    page.locator("[name=user]").fill("nobody@example.org")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(0)

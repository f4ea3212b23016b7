"""The operator's dashboards in a browser: as accessible as any page, in Django admin's frame, wide and narrow."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from crowdrag.operations.views.frame import PAGES
from crowdrag.studies.models import Participant
from tests.factories import UserFactory
from tests.operations.filled import busy

from .accessibility import SCREENS, faults

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
        found += [fault for width, theme in SCREENS for fault in faults(page, width, theme)]
    assert "\n".join(found) == ""


def test_dashboards_are_gone_through_by_keyboard_and_filters_work(page: Page, live_server: Any, operator: Any) -> None:
    busy(2)
    page.goto(live_server.url + reverse("operations"))
    page.get_by_role("navigation", name="Dashboards").get_by_role("link", name="Who looked at worker data").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/operations/trail/")
    assert page.locator("tbody tr").count() == 2
    page.get_by_label("Who (e-mail address)").fill("nobody@example.org")
    page.keyboard.press("Enter")
    page.get_by_text("Nobody looked at anything that the filter keeps.").wait_for()

"""Recruitment in a real browser: the part that asks the platform comes by itself, and every state is accessible."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from crowdrag.recruitment import platform_actions, platform_outbox, polling
from crowdrag.recruitment.models import PlatformStudy
from crowdrag.recruitment.prolific.client import Client
from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory
from tests.pages.accessibility import look
from tests.recruitment.conftest import advertised, client_there, there
from tests.recruitment.prolific_server import Prolific
from tests.recruitment.test_platform_actions import MESSAGE, finished

__all__ = ["client_there", "there"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.extended]


def busy_study(there: Prolific, client: Client) -> PlatformStudy:
    """Somebody handed in, somebody was rejected, a bonus got lost, somebody has just begun."""
    made = advertised()
    now = timezone.now()
    first, second = finished(there, made), finished(there, made, "5f00000000000000000000ab")
    common: dict[str, Any] = {"study": made.study, "purpose": made.purpose, "now": now}
    platform_actions.grant_bonus(session=first, amount=425, reason="thanks", key="bonus", **common)
    platform_actions.reject(session=second, category="OTHER", message=MESSAGE, key="reject", **common)
    there.before = lambda _method, path: "drop" if path.endswith("/pay/") else None
    for hours in range(8):
        platform_outbox.send_due(client, now=now + timedelta(hours=hours))
    platform_actions.approve(session=first, key="approve", **common)
    there.take_place(made.external_id, "5f00000000000000000000ac")
    polling.poll(client, made, now=now, everything=True)
    return made


def test_recruitment_is_accessible_in_each_state(
    page: Page, live_server: Any, sign_in: Callable[..., Any], there: Prolific, client_there: Client
) -> None:
    made = busy_study(there, client_there)
    MembershipFactory(study=made.study, user=sign_in(), role=Role.OWNER)
    url = f"{live_server.url}/studies/{made.study.slug}/recruitment"
    page.goto(f"{url}/writing/")
    expect(page.locator("#study-title")).to_be_visible()
    assert look(page) == []
    page.locator("[data-opens^='#again-']").click()
    expect(page.locator("dialog[open]")).to_be_visible()
    assert look(page) == []
    page.locator("dialog[open] [data-closes]").click()
    page.goto(f"{url}/writing/new/")
    assert look(page) == []
    there.before = lambda _method, _path: "drop"
    page.goto(f"{url}/writing/?only=disagrees")
    expect(page.locator("#connection-title")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert look(page) == []
    page.goto(f"{url}/")
    assert look(page) == []

"""The pages of recruitment: each state, each role, each button."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse

from crowdrag.recruitment.domain import hearing, orders
from crowdrag.recruitment.domain.hearing import News
from crowdrag.recruitment.domain.orders import sending
from crowdrag.recruitment.domain.prolific.client import Client
from crowdrag.recruitment.enums import OrderState
from crowdrag.recruitment.models import PlatformOrder, PlatformStudy
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import NOW, MembershipFactory, StudyFactory
from tests.studies.offered import offered_study

from .conftest import WAY, advertised
from .prolific_server import Prolific
from .test_orders import PERSON, finished

pytestmark = pytest.mark.django_db


def member(study: Study, role: Role = Role.OWNER) -> Browser:
    browser = Browser()
    browser.force_login(MembershipFactory(study=study, role=role).user)
    return browser


def page(study: Study) -> str:
    return reverse("recruitment", args=[study.slug, WAY])


def text(browser: Browser, url: str, **data: Any) -> str:
    answer = browser.get(url, data)
    assert answer.status_code == 200
    return answer.content.decode()


TERMS = {"name": "Tides", "description": "You write.", "reward": "12.50", "places": "3", "minutes": "25",
         "devices": ["desktop"]}  # fmt: skip


def test_a_system_without_an_account_says_what_is_missing() -> None:
    study = offered_study()
    browser = member(study)
    assert "Not on Prolific yet" in text(browser, page(study))
    assert "CROWDRAG_PROLIFIC_TOKEN is not set" in text(browser, page(study), connection=1)
    answer = browser.post(reverse("recruitment_new", args=[study.slug, WAY]), TERMS, follow=True)
    assert "did not take the draft" in answer.content.decode()
    assert "Send the draft again" in text(browser, page(study))


def test_a_draft_is_made_published_and_stopped(there: Prolific) -> None:
    study = offered_study()
    browser = member(study)
    assert 'value="12.50"' in text(browser, reverse("recruitment_new", args=[study.slug, WAY]))
    answer = browser.post(reverse("recruitment_new", args=[study.slug, WAY]), TERMS, follow=True)
    assert "The draft is on Prolific" in answer.content.decode()
    assert "Publish the study on Prolific?" in text(browser, page(study))
    for step, shows in [("publish", "recruiting"), ("pause", "paused"), ("start", "recruiting"), ("stop", "reviews")]:
        answer = browser.post(reverse("recruitment_step", args=[study.slug, WAY, step]), follow=True)
        assert shows in answer.content.decode()
    assert browser.post(reverse("recruitment_step", args=[study.slug, WAY, "burn"])).status_code == 404


@pytest.mark.parametrize(
    "wrong", [{"reward": "0"}, {"reward": "1.234"}, {"places": "0"}, {"devices": []}, {"name": ""}]
)
def test_terms_that_cannot_be_are_said_and_change_nothing(there: Prolific, wrong: dict[str, Any]) -> None:
    study = offered_study()
    answer = member(study).post(reverse("recruitment_new", args=[study.slug, WAY]), TERMS | wrong)
    assert answer.status_code == 422
    assert not PlatformStudy.objects.exists()
    assert not there.studies


def test_the_connection_says_balance_cost_and_what_does_not_fit(there: Prolific) -> None:
    made = advertised(publish=False)
    browser = member(made.study)
    shown = text(browser, page(made.study), connection=1)
    assert "EUR\u00a010,000.00" in shown
    assert "EUR\u00a050.00" in shown
    there.currency, there.balance = "GBP", 1
    shown = text(browser, page(made.study), connection=1)
    assert "pays in GBP" in shown
    assert "less than" in shown


def test_a_platform_that_is_away_is_said(there: Prolific) -> None:
    made = advertised()
    browser = member(made.study)
    there.before = lambda _method, _path: "drop"
    assert "did not answer" in text(browser, page(made.study), connection=1)
    answer = browser.post(reverse("recruitment_ask", args=[made.study.slug, WAY]), follow=True)
    assert "did not answer" in answer.content.decode()
    assert "did not answer" in text(browser, page(made.study))
    there.before = lambda _method, _path: None
    answer = browser.post(reverse("recruitment_ask", args=[made.study.slug, WAY]), follow=True)
    assert "0 submissions" in answer.content.decode()


def test_submissions_and_orders_are_shown_and_what_does_not_agree(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    browser = member(made.study)
    browser.post(reverse("recruitment_ask", args=[made.study.slug, WAY]))
    shown = text(browser, page(made.study))
    assert session in shown
    assert PERSON not in shown
    assert "submitted there, not here" in shown
    hearing.hear(made, News("fine", "ACTIVE", NOW), now=NOW)
    assert "fine" not in text(browser, page(made.study), only="disagrees")
    there.before = lambda _method, path: "drop" if path.endswith("/pay/") else None
    common = {"study": made.study, "purpose": WAY, "session": session, "now": NOW}
    order = orders.bonus(amount=425, reason="x", key="k", **common)
    for hours in range(8):
        sending.send_due(client_there, now=NOW + timedelta(hours=hours))
    shown = text(browser, page(made.study))
    assert "This may have been paid already" in shown
    browser.post(reverse("order_again", args=[made.study.slug, WAY, order.pk]))
    order.refresh_from_db()
    assert order.state == OrderState.WAITING
    browser.post(reverse("order_drop", args=[made.study.slug, WAY, order.pk]))
    order.refresh_from_db()
    assert order.state == OrderState.DROPPED
    answer = browser.post(reverse("order_drop", args=[made.study.slug, WAY, order.pk]), follow=True)
    assert "not one that waits" in answer.content.decode()


def test_places_are_ordered_once_and_only_more(there: Prolific) -> None:
    made = advertised()
    browser, url = member(made.study), reverse("recruitment_places", args=[made.study.slug, WAY])
    for to in ("5", "5", "2", "x"):
        browser.post(url, {"to": to})
    assert [order.details for order in PlatformOrder.objects.all()] == [{"to": 5}]


def test_a_draft_that_was_not_taken_is_given_up(there: Prolific) -> None:
    study = offered_study()
    browser = member(study)
    there.before = lambda _method, _path: "drop"
    browser.post(reverse("recruitment_new", args=[study.slug, WAY]), TERMS)
    browser.post(reverse("recruitment_send", args=[study.slug, WAY]), {"discard": "1"})
    assert not PlatformStudy.objects.exists()


@pytest.mark.parametrize(
    ("name", "args", "role"),
    [
        ("recruitment_step", ["publish"], Role.EDITOR),
        ("recruitment_places", [], Role.EDITOR),
        ("recruitment_ask", [], Role.REVIEWER),
        ("recruitment_send", [], Role.REVIEWER),
    ],
)
def test_who_may_not_spend_money_does_not(there: Prolific, name: str, args: list[str], role: Role) -> None:
    made = advertised(publish=False)
    browser = member(made.study, role)
    assert browser.post(reverse(name, args=[made.study.slug, WAY, *args]), {"to": 9}).status_code == 403
    assert browser.get(page(made.study)).status_code == (200 if role == Role.EDITOR else 403)


def test_an_order_of_another_study_is_none(there: Prolific, client_there: Client) -> None:
    made = advertised()
    order = orders.increase_places(study=made.study, purpose=WAY, to=9, key="k", now=NOW)
    other = StudyFactory()
    browser = member(other)
    assert browser.post(reverse("order_drop", args=[other.slug, WAY, order.pk])).status_code == 404
    assert browser.get(reverse("recruitment", args=[other.slug, "no-such-way"])).status_code == 404
    assert browser.post(reverse("recruitment_ask", args=[other.slug, WAY])).status_code == 404


def test_the_list_says_how_each_way_stands(there: Prolific) -> None:
    made = advertised()
    assert "recruiting" in text(member(made.study), reverse("recruitments", args=[made.study.slug]))

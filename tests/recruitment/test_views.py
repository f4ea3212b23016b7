"""The pages of recruitment: each state, each role, each button."""

from datetime import timedelta

import pytest
from django.urls import reverse

from crowdrag.recruitment import platform_actions, platform_outbox, submission_sync
from crowdrag.recruitment.enums import ActionState
from crowdrag.recruitment.models import PlatformAction, PlatformStudy
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.submission_sync import SubmissionUpdate
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import NOW, StudyFactory
from tests.recruitment.conftest import WAY, advertised
from tests.recruitment.prolific_server import Prolific
from tests.recruitment.test_platform_actions import PERSON, finished
from tests.studies.activity import member, offered_study

pytestmark = pytest.mark.django_db


TERMS = {"name": "Tides", "description": "You write.", "reward": "12.50", "places": "3", "minutes": "25",
         "devices": ["desktop"]}  # fmt: skip


def at(study: Study, name: str = "recruitment", *more: object) -> str:
    return reverse(name, args=[study.slug, WAY, *more])


def test_a_system_without_an_account_says_what_is_missing() -> None:
    study = offered_study()
    browser = member(study, Role.OWNER)
    assert "CROWDRAG_PROLIFIC_TOKEN" in browser.get(at(study), {"connection": 1}).content.decode()
    assert browser.get(at(study)).context["found"] is None
    browser.post(at(study, "recruitment_new"), TERMS)
    made = browser.get(at(study)).context["found"]
    assert (made.external_id, bool(made.problem)) == ("", True)
    assert at(study, "recruitment_resend") in browser.get(at(study)).content.decode()


def test_a_draft_is_made_published_and_stopped(there: Prolific) -> None:
    study = offered_study()
    browser = member(study, Role.OWNER)
    assert 'value="12.50"' in browser.get(at(study, "recruitment_new")).content.decode()
    assert browser.post(at(study, "recruitment_new"), TERMS).status_code == 302
    assert at(study, "recruitment_transition", "publish") in browser.get(at(study)).content.decode()
    steps = {"publish": "ACTIVE", "pause": "PAUSED", "start": "ACTIVE", "stop": "AWAITING REVIEW"}
    for step, status in steps.items():
        browser.post(at(study, "recruitment_transition", step))
        assert PlatformStudy.objects.get().status == status
    assert browser.post(at(study, "recruitment_transition", "burn")).status_code == 404
    assert browser.get(reverse("recruitments", args=[study.slug])).status_code == 200


def test_terms_that_cannot_be_are_refused_at_their_field(there: Prolific) -> None:
    study = offered_study()
    browser = member(study, Role.OWNER)
    wrong = {"reward": ("0", "1.234"), "places": ("0",), "devices": ([],), "name": ("",)}
    for field, values in wrong.items():
        for value in values:
            answer = browser.post(at(study, "recruitment_new"), TERMS | {field: value})
            assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert not PlatformStudy.objects.exists()
    assert not there.studies


def test_the_connection_says_balance_cost_and_what_does_not_fit(there: Prolific) -> None:
    made = advertised(publish=False)
    browser = member(made.study, Role.OWNER)

    def connection() -> str:
        return browser.get(at(made.study), {"connection": 1}).content.decode()

    shown = connection()
    assert ("10,000.00" in shown, "50.00" in shown, "GBP" in shown) == (True, True, False)
    there.currency, there.balance = "GBP", 1
    assert "GBP" in connection()


def test_a_platform_that_is_away_is_said(there: Prolific) -> None:
    made = advertised()
    browser = member(made.study, Role.OWNER)

    def asked() -> list[str]:
        answer = browser.post(at(made.study, "recruitment_refresh"), follow=True)
        return [message.level_tag for message in answer.context["messages"]]

    there.before = lambda _method, _path: "drop"
    assert browser.get(at(made.study), {"connection": 1}).status_code == 200
    assert asked() == ["error"]
    assert browser.get(at(made.study)).context["found"].problem
    there.before = lambda _method, _path: None
    assert asked() == ["success"]


def test_submissions_and_orders_are_shown_and_what_does_not_agree(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = finished(there, made)
    browser = member(made.study, Role.OWNER)
    browser.post(at(made.study, "recruitment_refresh"))
    shown = browser.get(at(made.study)).content.decode()
    assert (session in shown, PERSON in shown) == (True, False)
    submission_sync.record(made, SubmissionUpdate("fine", "ACTIVE", NOW), now=NOW)
    disagreeing = browser.get(at(made.study), {"only": "disagrees"}).content.decode()
    assert (session in disagreeing, "fine" in disagreeing) == (True, False)
    there.before = lambda _method, path: "drop" if path.endswith("/pay/") else None
    action = platform_actions.grant_bonus(
        study=made.study, purpose=WAY, session=session, now=NOW, amount=425, reason="x", key="k"
    )
    for hours in range(8):
        platform_outbox.send_due(client_there, now=NOW + timedelta(hours=hours))
    assert at(made.study, "platform_action_retry", action.pk) in browser.get(at(made.study)).content.decode()
    steps = [("retry", ActionState.WAITING), ("drop", ActionState.DROPPED), ("drop", ActionState.DROPPED)]
    for step, state in steps:
        browser.post(at(made.study, f"platform_action_{step}", action.pk))
        action.refresh_from_db()
        assert action.state == state


def test_places_are_ordered_once_and_only_more(there: Prolific) -> None:
    made = advertised()
    browser = member(made.study, Role.OWNER)
    for to in ("5", "5", "2", "x"):
        browser.post(at(made.study, "recruitment_places"), {"to": to})
    assert [action.details for action in PlatformAction.objects.all()] == [{"to": 5}]


def test_a_draft_that_was_not_taken_is_given_up(there: Prolific) -> None:
    study = offered_study()
    browser = member(study, Role.OWNER)
    there.before = lambda _method, _path: "drop"
    browser.post(at(study, "recruitment_new"), TERMS)
    browser.post(at(study, "recruitment_resend"), {"discard": "1"})
    assert not PlatformStudy.objects.exists()


def test_an_order_of_another_study_is_none(there: Prolific, client_there: Client) -> None:
    made = advertised()
    action = platform_actions.increase_places(study=made.study, purpose=WAY, to=9, key="k", now=NOW)
    other = StudyFactory()
    browser = member(other, Role.OWNER)
    assert browser.post(reverse("platform_action_drop", args=[other.slug, WAY, action.pk])).status_code == 404
    assert browser.get(reverse("recruitment", args=[other.slug, "no-such-way"])).status_code == 404
    assert browser.post(reverse("recruitment_refresh", args=[other.slug, WAY])).status_code == 404

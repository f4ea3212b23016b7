"""A study on the platform: made once, as the platform wants it, and run step by step."""

from dataclasses import replace
from typing import Any

import pytest

from crowdrag.recruitment import platform_actions, platform_filters, platform_outbox, platform_studies, polling
from crowdrag.recruitment.models import PlatformStudy
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.prolific.errors import (
    NotConfiguredError,
    OutcomeUnknownError,
    PlatformError,
    RefusedError,
    TokenError,
    UnreachableError,
)
from crowdrag.studies.entry import links
from crowdrag.studies.models import EntryLink
from tests.factories import NOW
from tests.recruitment.conftest import TERMS, WAY, advertised
from tests.recruitment.prolific_server import Problem, Prolific

pytestmark = pytest.mark.django_db


def test_the_draft_says_what_the_platform_asks_for(there: Prolific) -> None:
    terms = replace(TERMS, eligibility={"languages": ["en"], "countries": ["US"], "approval_rate": 95, "completed": 50})
    made = advertised(terms=terms, publish=False)
    told = there.studies[made.external_id]
    assert told["external_study_url"].startswith("https://crowd.example.org/join/")
    assert told["external_study_url"].endswith(
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert told["prolific_id_option"] == "url_parameters"
    assert (told["reward"], told["total_available_places"], told["estimated_completion_time"]) == (1250, 3, 25)
    kinds = {code["code_type"]: code for code in told["completion_codes"]}
    assert {"COMPLETED", "NO_CONSENT", "FAILED_ATTENTION_CHECK", "FIXED_SCREENOUT", "INCOMPATIBLE_DEVICE"} <= set(kinds)
    assert kinds["FIXED_SCREENOUT"]["actor"] == "researcher"
    assert {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}} in told["filters"]
    assert {"filter_id": "first-language", "selected_values": ["19"]} in told["filters"]
    assert {"filter_id": "current-country-of-residence", "selected_values": ["1"]} in told["filters"]
    assert made.status == "UNPUBLISHED"


def test_the_link_leads_people_back_with_the_codes(there: Prolific) -> None:
    made = advertised(publish=False)
    link = EntryLink.objects.get(pk=made.link_id)
    assert (link.purpose, link.platform, links.find(link.token)) == (WAY, "prolific", link)
    assert link.completion["COMPLETED"] == f"https://app.prolific.com/submissions/complete?cc={made.codes['COMPLETED']}"


def test_people_who_cannot_be_chosen_make_no_draft(there: Prolific) -> None:
    for wanted in ({"languages": ["Klingon"]}, {"approval_rate": 101}, {"shoe_size": 41}, {"completed": True}):
        with pytest.raises(platform_filters.EligibilityError):
            advertised(terms=replace(TERMS, eligibility=wanted), publish=False)
        assert PlatformStudy.objects.latest("pk").problem
    assert not there.studies


def test_a_draft_or_step_whose_answer_was_lost_is_looked_up_and_not_made_again(there: Prolific) -> None:
    lost = {("POST", "/api/v1/studies/")}
    there.after = lambda method, path: "drop" if (method, path) in lost or path.endswith("/transition/") else None
    made = advertised()
    assert list(there.studies) == [made.external_id]
    assert made.status == "ACTIVE"


def test_a_draft_that_is_refused_says_why_and_can_be_given_up(there: Prolific) -> None:
    def refuse(method: str, path: str) -> None:
        if (method, path) == ("POST", "/api/v1/studies/"):
            raise Problem(400, {"reward": ["Too low."]})

    there.before = refuse  # type: ignore[assignment]
    with pytest.raises(RefusedError, match="reward: Too low"):
        advertised(publish=False)
    made = PlatformStudy.objects.get()
    platform_studies.discard_draft(platform_study=made, now=NOW)
    assert not PlatformStudy.objects.exists()
    assert EntryLink.objects.get().closed_at


def test_steps_are_taken_once_and_only_where_they_can_be(there: Prolific) -> None:
    made = advertised()
    assert made.status == "ACTIVE"
    assert made.published_at
    assert (
        platform_studies.take_step(platform_study=made, step=platform_studies.PUBLISH, now=NOW).status == "ACTIVE"
    )  # again: nothing
    assert platform_studies.take_step(platform_study=made, step=platform_studies.PAUSE, now=NOW).status == "PAUSED"
    assert platform_studies.take_step(platform_study=made, step=platform_studies.START, now=NOW).status == "ACTIVE"
    assert (
        platform_studies.take_step(platform_study=made, step=platform_studies.STOP, now=NOW).status == "AWAITING REVIEW"
    )
    with pytest.raises(platform_studies.StepError):
        platform_studies.take_step(platform_study=made, step=platform_studies.PAUSE, now=NOW)
    assert sum(path.endswith("/transition/") for _method, path in there.requests) == 4


def test_publishing_without_money_is_refused_in_the_platforms_words(there: Prolific) -> None:
    there.balance = 10
    made = advertised(publish=False)
    with pytest.raises(RefusedError, match="balance"):
        platform_studies.take_step(platform_study=made, step=platform_studies.PUBLISH, now=NOW)
    made.refresh_from_db()
    assert not made.is_published


def test_places_only_go_up_and_wake_a_study_that_was_full(there: Prolific, client_there: Client) -> None:
    made = advertised(terms=replace(TERMS, places=1))
    there.take_place(made.external_id, "5f000000000000000000000a")
    polling.poll(client_there, made, now=NOW)
    assert made.status == "AWAITING REVIEW"
    with pytest.raises(platform_actions.BadPlacesError):
        platform_actions.increase_places(study=made.study, purpose=WAY, to=1, key="p", now=NOW)
    there.after = lambda method, path: "drop" if method == "PATCH" else None
    first = platform_actions.increase_places(study=made.study, purpose=WAY, to=4, key="p", now=NOW)
    platform_outbox.send_due(client_there, now=NOW)
    first.refresh_from_db()
    assert first.state != "FAILED"
    there.after = lambda method, path: None
    platform_actions.increase_places(study=made.study, purpose=WAY, to=3, key="q", now=NOW)
    platform_outbox.send_due(client_there, now=first.due_at)
    made.refresh_from_db()
    assert (made.status, made.places) == ("ACTIVE", 4)
    assert there.studies[made.external_id]["total_available_places"] == 4
    with pytest.raises(Problem):  # the stand-in's own rule
        there._change(there.studies[made.external_id], {"total_available_places": 2})


def test_a_wrong_token_is_said_and_shown_to_nobody(there: Prolific, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDRAG_PROLIFIC_TOKEN", "another")
    with pytest.raises(TokenError) as error:
        advertised(publish=False)
    assert "another" not in str(error.value)


def test_busy_is_waited_for_and_lost_reads_are_read_again(there: Prolific, client_there: Client) -> None:
    answers = iter(["busy", "drop", None])

    def troubled(_method: str, _path: str) -> str | None:
        answer = next(answers, None)
        if answer == "busy":
            raise Problem(429, "Later.", Retry_After="1")
        return answer

    there.before = troubled
    assert client_there.get("users/me/")["id"] == "researcher"
    there.before = lambda _method, _path: "drop"
    with pytest.raises(OutcomeUnknownError):
        client_there.get("users/me/")


def test_the_token_goes_nowhere_but_to_https(there: Prolific, settings: Any) -> None:
    for url in ("http://api.prolific.com/api/v1/", "http://10.0.0.1/", "https://u:p@x.org/", "ftp://x"):
        settings.PROLIFIC_URL = url
        with pytest.raises(NotConfiguredError):
            advertised(publish=False)
    assert not there.requests


def test_a_name_that_leads_into_the_own_network_is_not_connected_to(there: Prolific, settings: Any) -> None:
    settings.PROLIFIC_URL = "https://localhost/api/v1/"
    with pytest.raises(UnreachableError):
        advertised(publish=False)
    assert not there.requests


def test_only_studies_that_the_operator_names_use_the_account(there: Prolific, settings: Any) -> None:
    settings.PROLIFIC_STUDIES = ["another"]
    with pytest.raises(PlatformError):
        advertised(publish=False)
    assert not there.studies

"""The page of one visit: only what its state allows is offered, and what costs money is confirmed."""

from uuid import uuid4

import pytest
from django.urls import reverse

from crowdrag.recruitment import platform_actions
from crowdrag.recruitment.enums import ActionKind, SubmissionStatus
from crowdrag.recruitment.models import PlatformAction, PlatformStudy, Submission
from tests.factories import NOW
from tests.recruitment.conftest import WAY, advertised
from tests.recruitment.prolific_server import Prolific
from tests.recruitment.test_platform_actions import MESSAGE
from tests.studies.activity import member

pytestmark = pytest.mark.django_db
S = SubmissionStatus
SENT = {
    "APPROVE": {"kind": "APPROVE", "confirmed": "on"},
    "BONUS": {"kind": "BONUS", "amount": "1.50", "reason": "thanks", "confirmed": "on"},
    "REJECT": {"kind": "REJECT", "category": "LOW_EFFORT", "message": MESSAGE},
}
OFFERED = {
    "": set(), S.RESERVED: set(), S.ACTIVE: set(), S.RETURNED: {"BONUS"}, S.TIMED_OUT: {"APPROVE", "BONUS"},
    S.AWAITING_REVIEW: {"APPROVE", "BONUS", "REJECT"}, S.APPROVED: {"BONUS"}, S.PARTIALLY_APPROVED: {"BONUS"},
    S.REJECTED: {"BONUS"}, S.SCREENED_OUT: {"BONUS"},
}  # fmt: skip


def visit(status: str) -> Submission:
    study: PlatformStudy = advertised()
    return Submission.objects.create(
        platform_study=study, external_id="visit", status=status, status_at=NOW if status else None, first_heard_at=NOW
    )


def address(found: Submission) -> str:
    return reverse("recruitment_submission", args=[found.platform_study.study.slug, WAY, found.external_id])


def test_a_page_offers_and_takes_only_what_the_state_allows(there: Prolific) -> None:
    assert set(OFFERED) == {"", *S.values}
    found = visit("")
    browser = member(found.platform_study.study)
    for status, allowed in OFFERED.items():
        Submission.objects.update(status=status, status_at=NOW if status else None)
        found.refresh_from_db()
        page = browser.get(address(found)).content.decode()
        offered = {kind for kind in SENT if f'name="kind" value="{kind}"' in page}
        assert offered == allowed == {kind.value for kind in platform_actions.possible_actions(found)} & set(SENT), (
            status
        )
        for kind, data in SENT.items():
            browser.post(address(found), data | ({"once": str(uuid4())} if kind == "BONUS" else {}))
            assert PlatformAction.objects.filter(kind=kind).exists() is (kind in offered), (status, kind)
            PlatformAction.objects.all().delete()


def test_what_costs_money_is_confirmed_and_what_was_ordered_not_offered_again(there: Prolific) -> None:
    found = visit(S.AWAITING_REVIEW)
    browser = member(found.platform_study.study)
    for kind in ("APPROVE", "BONUS"):
        data = {name: value for name, value in SENT[kind].items() if name != "confirmed"} | {"once": str(uuid4())}
        assert browser.post(address(found), data).status_code == 422
    assert not PlatformAction.objects.exists()
    browser.post(address(found), SENT["APPROVE"])
    assert ActionKind.APPROVE not in platform_actions.possible_actions(found)
    with pytest.raises(platform_actions.NotPossibleError):
        platform_actions.check_possible(found, ActionKind.APPROVE)

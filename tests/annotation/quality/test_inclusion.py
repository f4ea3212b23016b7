"""What a reviewer reads of whether judgments count is whether they do."""

import re

import pytest
from django.urls import reverse

from annotation.enums import AssignmentState as S
from annotation.judging import decisions, leases, submission
from annotation.models import Assignment
from crowdrag.studies.enums import Role
from tests.annotation import open_campaign
from tests.annotation.judge_actions import HOUR, answer_all, claim, hand_in, sheets
from tests.annotation.shared import signed_in
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def test_judgments_count_once_accepted_and_included() -> None:
    here = open_campaign.world()
    done = hand_in(claim(here, here.judge()))
    assert counts(here, done) == "WAITING"
    decisions.accept(assignment=done, by=here.member(), now=NOW)
    assert counts(here, done) == "YES"
    decisions.exclude(assignment=done, reason="Misread.", by=here.member(), now=NOW)
    assert counts(here, done) == "NO"


def counts(here: open_campaign.World, assignment: Assignment) -> str:
    """What the page of a decision marks in its bar."""
    address = reverse("screening_assignment", args=[here.study.slug, here.campaign.pk, assignment.external_id])
    page = signed_in(here.study, Role.REVIEWER).get(address).content.decode()
    return re.findall(r'data-counts="(\w+)"', page)[0]


def test_surplus_does_not_count() -> None:
    here = sheets(1, k=1)
    late = claim(here, here.judge())
    answer_all(late)
    leases.expire(now=NOW + 10 * HOUR)
    claim(here, here.judge())
    assert submission.submit(assignment=late, now=NOW + 10 * HOUR).state == S.SURPLUS
    assert counts(here, late) == "NO"

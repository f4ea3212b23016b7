"""What a reviewer reads of whether judgments count is whether they do."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain import assignments
from annotation.enums import AssignmentState as S
from annotation.models import Assignment
from tests.factories import NOW

from . import campaigns
from .judging import HOUR, answer_all, claim, hand_in, sheets

pytestmark = pytest.mark.django_db


def said(here: campaigns.World, assignment: Assignment) -> str:
    client = Client()
    client.force_login(here.member())
    page = client.get(reverse("screening_assignment", args=[here.study.slug, here.campaign.pk, assignment.external_id]))
    bar = " ".join(page.content.decode().split())
    bar = bar[bar.index("Second decision: the analysis") :]
    return bar[: bar.index("<details")]


def test_judgments_count_once_accepted() -> None:
    here = campaigns.world()
    done = hand_in(claim(here, here.judge()))
    assert "counts once accepted" in said(here, done)
    assert "included" not in said(here, done)
    assignments.accept(assignment=done, by=here.member(), now=NOW)
    assert "included" in said(here, done)
    assert "counts once accepted" not in said(here, done)
    assignments.exclude(assignment=done, reason="Misread.", by=here.member(), now=NOW)
    assert "left out" in said(here, done)


def test_surplus_does_not_count() -> None:
    here = sheets(1, k=1)
    late = claim(here, here.judge())
    answer_all(late)
    assignments.expire(now=NOW + 10 * HOUR)
    claim(here, here.judge())
    assert assignments.submit(assignment=late, now=NOW + 10 * HOUR).state == S.SURPLUS
    assert "not counted" in said(here, late)
    assert "included" not in said(here, late)

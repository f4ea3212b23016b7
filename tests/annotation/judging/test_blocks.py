"""Giving somebody nothing more: a decision about a person, apart from pay and from what counts."""

import pytest
from django.db import InternalError, ProgrammingError, transaction
from django.urls import reverse

from annotation.enums import AssignmentState as S
from annotation.judging import claims, leases
from annotation.models import Assignment
from crowdrag.assignments.problems import Blocked
from crowdrag.studies.enums import Role
from crowdrag.studies.models import ParticipantBlock
from crowdrag.studies.participants import blocks, withdrawal
from tests.annotation.judge_actions import claim, hand_in, sheets
from tests.annotation.shared import client_of, signed_in
from tests.concurrency import together
from tests.factories import NOW, ParticipantFactory

pytestmark = pytest.mark.django_db
WHY = "Six seconds a questionnaire <i>is</i> no reading."


def test_whoever_is_barred_finishes_what_they_have_and_gets_nothing_more() -> None:
    here = sheets(3, k=1, questionnaires_per_person=None)
    judge, other = here.judge(), here.judge()
    mine = claim(here, judge)
    blocks.block(participant=judge, reason=WHY, by=here.member(), now=NOW)
    assert claim(here, judge) == mine
    assert hand_in(mine, NOW).state == S.SUBMITTED
    with pytest.raises(Blocked, match="Six seconds"):
        claim(here, judge)
    assert isinstance(claims.obstacle(campaign=here.campaign, participant=judge), Blocked)
    assert claim(here, other).state == S.ASSIGNED
    # What was blocked is lifted, and the record of it stays.
    blocks.unblock(participant=judge, by=None, now=NOW)
    assert claim(here, judge).state == S.ASSIGNED
    assert ParticipantBlock.objects.get(participant=judge).lifted_at == NOW


def test_what_was_given_back_is_not_taken_up_again() -> None:
    here = sheets(2, k=1)
    judge = here.judge()
    mine = claim(here, judge)
    leases.give_back(assignment=mine, now=NOW)
    blocks.block(participant=judge, reason=WHY, by=None, now=NOW)
    with pytest.raises(Blocked):
        claims.resume(assignment=Assignment.objects.get(pk=mine.pk), now=NOW)


def test_it_holds_once_has_a_reason_and_is_not_rewritten() -> None:
    judge = ParticipantFactory()
    with pytest.raises(blocks.NoReasonError):
        blocks.block(participant=judge, reason="  ", by=None, now=NOW)
    first = blocks.block(participant=judge, reason=WHY, by=None, now=NOW)
    assert blocks.block(participant=judge, reason="another", by=None, now=NOW) == first
    assert blocks.unblock(participant=judge, by=None, now=NOW) == first
    assert blocks.unblock(participant=judge, by=None, now=NOW) is None
    for change in ({"reason": "another"}, {"lifted_at": None}):
        with pytest.raises((InternalError, ProgrammingError)), transaction.atomic():
            ParticipantBlock.objects.filter(pk=first.pk).update(**change)
    withdrawal.erase(participant=judge, now=NOW)
    assert not ParticipantBlock.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_whoever_is_barred_by_ten_at_once_is_barred_once() -> None:
    judge = ParticipantFactory()
    created = together([lambda: blocks.block(participant=judge, reason=WHY, by=None, now=NOW)] * 10)
    assert {block.pk for block in created} == set(ParticipantBlock.objects.values_list("pk", flat=True))
    assert len({block.pk for block in created}) == 1


def test_a_reviewer_decides_it_where_they_screen_and_the_judge_reads_why() -> None:
    here = sheets(2, k=1, questionnaires_per_person=None)
    judge = here.judge()
    mine = hand_in(claim(here, judge), NOW)
    client, person = signed_in(here.study, Role.REVIEWER), client_of(judge)
    page = reverse("screening_assignment", args=[here.study.slug, here.campaign.pk, mine.external_id])
    address = reverse("participant_block", args=[here.study.slug, judge.pk])
    start = reverse("judging_start", args=[here.study.slug, here.campaign.pk])
    assert address in client.get(page).content.decode()
    assert client.post(address, {"reason": "", "back": page})["Location"] == page
    assert judge.block is None
    assert client.post(address, {"reason": WHY, "back": "//elsewhere.example"})["Location"].startswith("/studies/")
    assert "Six seconds a questionnaire &lt;i&gt;" in client.get(page).content.decode()
    blocked = person.get(start)
    assert isinstance(blocked.context["overview"].obstacle, Blocked)
    assert "Six seconds a questionnaire &lt;i&gt;" in blocked.content.decode()
    client.post(address, {"lift": "1", "back": page})
    assert person.get(start).context["overview"].obstacle is None

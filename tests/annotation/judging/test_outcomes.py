"""What judges read of what became of their work, and why."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.enums import AssignmentState as S
from annotation.judging import decisions, leases, submission
from annotation.judging.lifecycle import ASSIGNMENTS
from annotation.models import Assignment
from crowdrag.studies import activities
from crowdrag.studies.entry import links
from tests.annotation.judge_actions import HOUR, answer_all, claim, hand_in, sheets
from tests.annotation.open_campaign import World
from tests.annotation.shared import client_of, made_once
from tests.factories import NOW, WritingPlanFactory, WritingTaskFactory

pytestmark = pytest.mark.django_db


stored, here = made_once(lambda: sheets(1, k=1))


def pages(assignment: Assignment) -> list[str]:
    """Their own page, and that of the questionnaire."""
    client, campaign = client_of(assignment.participant), assignment.questionnaire.campaign
    done = reverse("judging_done", args=[campaign.study.slug, campaign.pk, assignment.external_id])
    return [
        client.get(address).content.decode()
        for address in (reverse("participant_dashboard", args=[campaign.study.slug]), done)
    ]


@pytest.mark.parametrize("is_taken", [True, False])
def test_who_wins_a_contest_is_not_told_that_they_came_late(here: World, is_taken: bool) -> None:
    mine = hand_in(claim(here, here.judge()))
    decisions.reject(assignment=mine, reason="No.", by=here.member(), now=NOW)
    if is_taken:
        claim(here, here.judge())
    decisions.accept(assignment=mine, by=here.member(), now=NOW, note="You are right.")
    state = S.SURPLUS if is_taken else S.ACCEPTED
    for page in pages(mine):
        assert f'data-state="{state}" data-paid="400" data-reversed' in page


def test_who_came_late_is_told_so_and_after_the_pay_that_it_is_decided(here: World) -> None:
    mine = claim(here, here.judge())
    answer_all(mine)
    leases.expire(now=NOW + 10 * HOUR)
    claim(here, here.judge())
    submission.submit(assignment=mine, now=NOW + 10 * HOUR)
    for paid in (0, 100):
        if paid:
            ASSIGNMENTS.pay(mine, amount=paid, reason="For your time.", by=here.member(), now=NOW)
        for page in pages(mine):
            assert f'data-state="SURPLUS" data-paid="{paid}">' in page


def test_why_something_was_paid_beside_is_read_by_the_judge(here: World) -> None:
    reviewer, mine = here.member(), hand_in(claim(here, here.judge()))
    decisions.accept(assignment=mine, by=reviewer, now=NOW)
    for page in pages(mine):
        assert "<blockquote" not in page  # the promised pay needs no words
    ASSIGNMENTS.pay(mine, amount=150, reason="The <page> broke.", by=reviewer, now=NOW)
    for page in pages(mine):
        assert "1.50: The &lt;page&gt; broke." in page


def test_a_full_campaign_says_so_before_anybody_agrees(here: World) -> None:
    """As a paused one does; who is there already goes on, and a place that may come back keeps the door open."""
    address = reverse("join", args=[here.link.token])
    mine = claim(here, here.judge())
    assert Client().get(address).status_code == 200  # their time may be over soon
    hand_in(mine)
    newcomer = Client()
    for answer in (newcomer.get(address), newcomer.post(address)):
        assert answer.status_code == 410
    assert here.link.arrivals.count() == 1
    assert client_of(mine.participant).get(address).status_code == 200
    decisions.reject(assignment=mine, reason="No.", by=here.member(), now=NOW)
    assert Client().get(address).status_code == 200


def test_who_came_to_judge_is_not_asked_to_write(here: World) -> None:
    """Who came for both, by no link, or to write, is."""
    WritingPlanFactory(study=here.study, consent_text=here.campaign.consent_text, pay=1250, minutes=25)
    judge, stranger, both = here.judge(), here.stranger(), here.judge()
    to_write = links.create_open(study=here.study, purpose="writing", label="", by=None, now=NOW)
    to_write.arrivals.create(participant=both, arrived_at=NOW, last_at=NOW)
    names = {person: [way.name for way in activities.of_participant(person)] for person in (judge, stranger, both)}
    assert names == {judge: [here.purpose], stranger: ["writing"], both: ["writing", here.purpose]}
    page = client_of(judge).get(reverse("participant_dashboard", args=[here.study.slug])).content.decode()
    judging, writing = (reverse(name, args=[here.study.slug, *rest]) for name, rest in
                        (("judging_start", [here.campaign.pk]), ("writing_start", [])))  # fmt: skip
    assert (judging in page, writing in page) == (True, False)
    # Who wrote is still shown what came of it.
    WritingTaskFactory(claimed=True, topic__study=here.study, participant=judge)
    assert "writing" in [way.name for way in activities.of_participant(judge)]

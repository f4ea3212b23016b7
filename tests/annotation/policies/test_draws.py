"""Campaigns that draw their questionnaires: who gets what, with which logged probability."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.stats import adaptive_draws
from annotation.campaigns import services as campaign_services
from annotation.enums import Arm, AssignmentPolicy
from annotation.judging import draws, leases, problems
from annotation.models import Assignment, AssignmentChoice, LiveCompetence, PolicyState, Slot
from annotation.policies import services
from annotation.policies.choice_weights import assignment_weights
from annotation.progress.agreement import load_judgments
from crowdrag.assignments.problems import NothingLeft
from tests.annotation.judge_actions import HOUR, check_constraints, claim, hand_in, sheets
from tests.annotation.judging.concurrent_claims import grow
from tests.annotation.open_campaign import World
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def drawing(count: int, policy: str = AssignmentPolicy.RANDOM, **fields: object) -> World:
    """Return a campaign with so many questionnaires of one pair, laid out for its policy."""
    here = sheets(count, policy=policy, **fields)
    services.refresh(campaign=here.campaign, now=NOW, rng=np.random.default_rng(0))
    return here


def test_a_balanced_random_campaign_gives_nearly_all_questionnaires_a_judge_before_any_gets_a_second_one() -> None:
    here = drawing(20, k=2)
    mine = [claim(here, person, rng=Random(number)) for number, person in enumerate(here.judges(40))]
    order = [each.questionnaire_id for each in mine]
    assert set(Counter(order).values()) == {2}
    assert len(set(order[:20])) >= 16, "20 draws from 40 slots at random would find 15"
    assert order[:6] != sorted(order[:6])
    with pytest.raises(NothingLeft):
        claim(here, here.judge())
    check_constraints()


def test_the_logged_probability_is_that_of_the_questionnaire_over_both_arms() -> None:
    here = drawing(5, AssignmentPolicy.INFORMATION, k=3, control_share=25)
    # Two circles with other positions, one slot held, one questionnaire excluded for the judge.
    rng = np.random.default_rng(3)
    table = list(Slot.objects.filter(campaign=here.campaign).order_by("pk"))
    control, unproven = (adaptive_draws.positions(rng.random(len(table)) + 0.1, rng) for _ in range(2))
    for slot, one, other in zip(table, control, unproven, strict=True):
        Slot.objects.filter(pk=slot.pk).update(control_position=one, unproven_position=other)
    claim(here, here.judge(), rng=Random(1))
    banned = here.questionnaires[2].pk
    table = list(Slot.objects.filter(campaign=here.campaign).order_by("pk"))
    is_free = np.array([slot.holder_id is None and slot.questionnaire_id != banned for slot in table])
    expected = 0.25 * adaptive_draws.probabilities(control, is_free) + 0.75 * adaptive_draws.probabilities(
        unproven, is_free
    )
    of_sheet = {
        sheet.pk: sum(p for slot, p in zip(table, expected, strict=True) if slot.questionnaire_id == sheet.pk)
        for sheet in here.questionnaires
    }
    terms = draws.DrawTerms(AssignmentPolicy.INFORMATION, 25, 0, None)
    counts: Counter[int] = Counter()
    source = Random(0)
    for _ in range(300):
        drawn = draws.lock_drawn_slot(campaign=here.campaign.pk, excluded=[banned], terms=terms, rng=source)
        assert drawn is not None
        counts[drawn.questionnaire] += 1
        assert drawn.probability == pytest.approx(of_sheet[drawn.questionnaire], abs=1e-12)
    assert sum(of_sheet.values()) == pytest.approx(1.0)
    assert banned not in counts
    for sheet, chance in of_sheet.items():
        assert abs(counts[sheet] - 300 * chance) <= 4 * (300 * chance * (1 - chance)) ** 0.5 + 1


def test_each_choice_is_logged_and_a_lost_slot_is_drawn_again_with_its_position() -> None:
    here = drawing(4, AssignmentPolicy.COMPETENCE, k=1)
    person = here.judge()
    mine = claim(here, person, rng=Random(2))
    choice = AssignmentChoice.objects.get(assignment=mine)
    assert (choice.policy, choice.epoch, choice.tier) == (AssignmentPolicy.COMPETENCE, 0, "unproven")
    assert (choice.free_slots, choice.probability) == (1, pytest.approx(0.25))
    before = Slot.objects.get(holder=mine).control_position
    leases.expire(now=NOW + 2 * HOUR)
    slot = Slot.objects.open().get(questionnaire=mine.questionnaire)
    assert slot.control_position == before
    back = claim(here, person, NOW + 2 * HOUR)
    assert (back.pk, AssignmentChoice.objects.get()) == (mine.pk, choice)
    fixed = sheets(2)
    claim(fixed, fixed.judge())
    assert AssignmentChoice.objects.count() == 1


def test_slots_without_positions_are_given_out_in_order_and_laid_out_by_the_next_sweep() -> None:
    here = sheets(3, k=1, policy=AssignmentPolicy.RANDOM)
    mine = claim(here, here.judge())
    choice = AssignmentChoice.objects.get(assignment=mine)
    assert (mine.questionnaire, choice.arm, choice.probability) == (here.questionnaires[0], Arm.ORDER, None)
    assert services.refresh_due(now=NOW) == 1
    assert services.refresh_due(now=NOW) == 0
    assert not Slot.objects.open().filter(control_position=None).exists()
    hand_in(mine)
    assert services.refresh_due(now=NOW + HOUR) == 1
    state = PolicyState.objects.get(campaign=here.campaign)
    assert (state.epoch, state.taken, state.submitted, state.judgments) == (1, 1, 1, 1)
    here.change(policy=AssignmentPolicy.FIXED)
    assert services.refresh(campaign=here.campaign, now=NOW, rng=np.random.default_rng(0)) is None


def test_a_running_campaign_can_change_its_policy() -> None:
    here = sheets(3, k=2)
    campaign_services.change_terms(campaign=here.campaign, terms={"policy": AssignmentPolicy.RANDOM}, now=NOW)
    assert Slot.objects.filter(campaign=here.campaign, control_position__isnull=False).count() == 6


def test_routing_gives_further_questionnaires_to_judges_who_are_known_to_be_good() -> None:
    here = drawing(8, AssignmentPolicy.COMPETENCE, k=2, questionnaires_per_person=None, control_share=1)
    people = [
        person
        for person in here.judges(8)
        if not draws.is_control_judge(campaign=here.campaign.pk, participant=person.pk, control_share=1)
    ][:3]
    for person in people:
        hand_in(claim(here, person))
    for person, spam in zip(people[1:], (0.9, 0.1), strict=True):
        LiveCompetence.objects.create(
            campaign=here.campaign, participant=person, dimension=here.dimensions[0], spam_probability=spam,
            judgments=1, computed_at=NOW,
        )  # fmt: skip
    unknown, doubtful, good = people
    for person in (unknown, doubtful):
        with pytest.raises(problems.EnoughJudged):
            claim(here, person)
    assert AssignmentChoice.objects.get(assignment=claim(here, good)).tier == "trusted"
    here.change(control_share=100)
    assert isinstance(claim(here, doubtful), Assignment), "the random share of judges is not limited"


def test_weights_are_those_of_the_logged_probabilities_and_one_when_all_is_judged() -> None:
    here = drawing(4, AssignmentPolicy.INFORMATION, k=1)
    for number, person in enumerate(here.judges(4)):
        hand_in(claim(here, person, rng=Random(number)))
        weights = list(assignment_weights(here.campaign).values())
        assert len(weights) == number + 1
        ratios = [1 / (4 - n) / choice.probability for n, choice in enumerate(AssignmentChoice.objects.order_by("pk"))]
        assert weights == pytest.approx(adaptive_draws.pool_weights(ratios, 4).tolist())
        assert sorted(load_judgments(here.campaign)[0].weight) == pytest.approx(sorted(weights))
    assert weights == [1.0] * 4


def test_a_drawn_claim_needs_two_statements_more_and_reads_as_little_where_many_slots_are_free() -> None:
    fixed, here = sheets(2, k=1), drawing(2, k=1)
    counts = []
    for one in (fixed, here):
        with CaptureQueriesContext(connection) as captured:
            claim(one, one.judge())
        counts.append(len(captured))
    assert counts[1] - counts[0] == 2
    grow(here, 4000)
    services.refresh(campaign=here.campaign, now=NOW, rng=np.random.default_rng(0))
    find, chances = draws._OF_POSITION[draws.CONTROL]
    arguments = {"campaign": here.campaign.pk, "excluded": "{}", "at": 0.5}
    with connection.cursor() as cursor:
        for statement in (find, chances):
            arguments |= {"questionnaire": here.questionnaires[1].pk}
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", arguments)
            plan = cursor.fetchone()[0][0]["Plan"]
            assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 40
